"""The digest of a set of records, to compare a copy with its source.

It is the sum of the SHA-256 hashes of each record's JSON, modulo 2^256. It does not depend on the
order of the records, so it is computed as a stream. Subscribers are hashed without
``modified_date``, which says when a record changed, not what it holds (decisions, "Digest").
"""

from hashlib import sha256

from masthead.contract.operations import ENTITIES
from masthead.contract.shapes import ChangedSubscriber, Subscriber

SHAPES = {
    entity.name: Subscriber if entity.shape is ChangedSubscriber else entity.shape
    for entity in ENTITIES
}
"""The shape whose JSON is hashed, by the name of the entity."""


class Digest:
    """The digest of the records that have been added so far."""

    def __init__(self) -> None:
        self.count = 0
        self._sum = 0

    def add(self, record: bytes) -> None:
        """Add a record: its JSON as the change feed writes it, UTF-8 without spaces."""
        self.count += 1
        self._sum += int.from_bytes(sha256(record).digest())

    def hex(self) -> str:
        """Return the sum as 64 hexadecimal digits."""
        return f"{self._sum % 2**256:064x}"
