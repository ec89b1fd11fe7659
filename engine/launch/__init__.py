"""The chosen plan as the settings of the program that will run it."""
