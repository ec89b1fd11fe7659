"""The tiny catalogue of the search tests serves here too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "search"))
