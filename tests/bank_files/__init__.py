"""Files of banks: what the readers make of them, and which they refuse."""
