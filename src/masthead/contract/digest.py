"""The digest of a set of records, by which a copy is compared with its source.

It is the sum of the SHA-256 of each record's JSON, modulo 2^256: whatever the order in which the
records come, and computed while they come. A subscriber counts without ``modified_date``, which
tells when a record changed and not what it is (decisions, "Digest").
"""

from hashlib import sha256

from masthead.contract.operations import ENTITIES
from masthead.contract.shapes import ChangedSubscriber, Subscriber

__all__ = ["SHAPES", "Digest"]

SHAPES = {
    entity.name: Subscriber if entity.shape is ChangedSubscriber else entity.shape
    for entity in ENTITIES
}
"""The shape whose JSON is digested, by the name of the entity."""


class Digest:
    """A sum that records are added to."""

    def __init__(self) -> None:
        self.count = 0
        self._sum = 0

    def add(self, record: bytes) -> None:
        """Add the JSON of a record, as the change feed writes it: UTF-8, without spaces."""
        self.count += 1
        self._sum += int.from_bytes(sha256(record).digest())

    def hex(self) -> str:
        """Return the sum as 64 hexadecimal digits."""
        return f"{self._sum % 2**256:064x}"
