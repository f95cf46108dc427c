"""Billing: the rules as plain functions, and the operations on both kinds of database."""
