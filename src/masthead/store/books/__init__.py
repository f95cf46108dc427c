"""The statements of the books, set-based, one module for each subject."""
