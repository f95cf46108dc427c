"""The readers' pages."""
