"""Masthead's sources for pipeline tools, with the tools themselves."""
