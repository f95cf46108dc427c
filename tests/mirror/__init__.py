"""The mirror: copies of a service's data in each kind of database."""
