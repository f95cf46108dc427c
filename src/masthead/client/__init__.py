"""The client of the interface: a method for each of the ten operations, with typed results.

It works with any service that has this interface, and uses Masthead's extensions if they are
available: the snapshot, the deletions, the digest, ``Masthead-Changes-Through`` and further pages
of a list.
"""

from masthead.client.asynchronous import AsyncChanges, AsyncClient, AsyncDeletions
from masthead.client.readers import ChangedRecord, Deletion
from masthead.client.requests import (
    ALL_ENTITIES,
    EntityDigest,
    SubscriberFilters,
    SubscriptionFilters,
)
from masthead.client.sync import Changes, Client, Deletions

__all__ = [
    "ALL_ENTITIES",
    "AsyncChanges",
    "AsyncClient",
    "AsyncDeletions",
    "ChangedRecord",
    "Changes",
    "Client",
    "Deletion",
    "Deletions",
    "EntityDigest",
    "SubscriberFilters",
    "SubscriptionFilters",
]
