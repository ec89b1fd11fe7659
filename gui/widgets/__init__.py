"""Building blocks that all pages share."""
