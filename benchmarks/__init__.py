"""How fast Masthead is, side by side with what a user would pick instead (docs/performance.md)."""
