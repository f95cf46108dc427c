"""The client of the interface: a method for each of the ten operations, with typed results.

It works with any service of this interface, and uses Masthead's extensions where they are
available: the snapshot, the digest, ``Masthead-Changes-Through`` and further pages of a list.
"""

from masthead.client.asynchronous import AsyncChanges, AsyncClient
from masthead.client.readers import ChangedRecord
from masthead.client.requests import (
    ALL_ENTITIES,
    EntityDigest,
    SubscriberFilters,
    SubscriptionFilters,
)
from masthead.client.sync import Changes, Client

__all__ = [
    "ALL_ENTITIES",
    "AsyncChanges",
    "AsyncClient",
    "ChangedRecord",
    "Changes",
    "Client",
    "EntityDigest",
    "SubscriberFilters",
    "SubscriptionFilters",
]
