"""The client of the interface: a method for each of the ten operations, with typed results.

It works against any service of this interface. What Masthead adds, the snapshot, the digest, the
header ``Masthead-Changes-Through`` and further pages of a list, is used where it is there.
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
