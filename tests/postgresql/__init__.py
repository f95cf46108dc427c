"""Tests of what only a server of PostgreSQL can do: be away, have replicas, be of some version."""
