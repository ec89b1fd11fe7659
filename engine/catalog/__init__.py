"""The catalogue: curated CSV files, the database built from them, and the user's own rows."""
