"""Hostile requests and import files."""
