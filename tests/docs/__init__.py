"""The documentation: its links, its commands, and what is generated."""
