"""Masthead on Citus: several PostgreSQL servers, among which the accounts are divided."""
