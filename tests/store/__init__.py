"""Tests of the store: its schema, its commits, its accounts, the plans of its queries."""
