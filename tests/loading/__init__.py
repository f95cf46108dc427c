"""Files in, files out, and made-up data."""
