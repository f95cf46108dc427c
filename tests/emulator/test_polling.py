"""A client that polls has the data of the emulator after any requests to the control port.

The client knows the interface alone: the change feed, the deletions, and a snapshot after 410. What
the emulator should have is a model: what was added less what was removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from masthead import Client
from masthead.contract.shapes import Address, ChangedSubscriber, Order
from masthead.errors import ServiceUnreachable, TooOld
from tests.long import examples

if TYPE_CHECKING:
    from collections.abc import Iterable

    from masthead.emulator import MastheadServer

ENTITIES = ["subscribers", "addresses", "subscriptions", "orders"]
IDS = st.integers(1, 2)
TEXT = st.sampled_from(["", "Ann", "Bo", "Ørsted", "a" * 50])
COLUMNS = {
    "subscribers": ("subscriber_id", "first_name"),
    "addresses": ("address_id", "city"),
    "orders": ("order_id", "import_name"),
}
KIND_OF: dict[type, str] = {ChangedSubscriber: "subscribers", Address: "addresses", Order: "orders"}
KINDS = st.sampled_from(sorted(COLUMNS))


def _short(text: str) -> str:
    """Return what fits into any of these columns."""
    return text[:30]


STEPS = st.one_of(
    st.tuples(st.just("put"), KINDS, IDS, TEXT.map(_short)),
    st.tuples(st.just("put"), st.sampled_from(["addresses", "orders"]), IDS, TEXT.map(_short)),
    st.tuples(st.just("remove"), st.sampled_from(["addresses", "orders"]), IDS),
    st.tuples(
        st.just("move"), st.sampled_from([1, 3_600, 86_400, 6 * 86_400, -3_600, -6 * 86_400])
    ),
    st.tuples(st.just("poll")),
    st.tuples(st.just("poll")),
    st.tuples(st.just("poll badly"), st.sampled_from(["/2/cdc", "/deletions", "/snapshot"])),
    st.tuples(st.just("new epoch")),
)

Records = dict[tuple[str, int], str]


class Poller:
    """A client that keeps a copy by polling."""

    def __init__(self, server: MastheadServer) -> None:
        self.client = Client(server.base_url, *server.credentials, patience_s=0)
        self.copy: Records = {}
        self.through: str | None = None

    def poll(self) -> None:
        """Bring the copy up to date; leave it as it was if a request fails."""
        if self.through is None:
            self._load()
            return
        try:
            with self.client.changes(self.through, ENTITIES) as changes:
                changed = self._records(changes)
            with self.client.deletions(self.through, ENTITIES) as deletions:
                gone = {(each.entity, each.id) for each in deletions}
        except TooOld:
            self._load()
            return
        copy = {**self.copy, **changed}
        self.copy = {key: text for key, text in copy.items() if key not in gone}
        self.through = min(changes.through, deletions.through)

    def _load(self) -> None:
        with self.client.snapshot(ENTITIES) as snapshot:
            copy = self._records(snapshot)
        self.copy, self.through = copy, snapshot.through

    @staticmethod
    def _records(found: Iterable[object]) -> Records:
        records = {}
        for record in found:
            if kind := KIND_OF.get(type(record)):
                key, column = COLUMNS[kind]
                records[kind, getattr(record, key)] = getattr(record, column) or ""
        return records


@examples(8, 1_000)
@given(st.lists(STEPS, min_size=10, max_size=40))
def test_a_client_that_polls_has_what_the_emulator_has(
    server: MastheadServer, steps: list[tuple[Any, ...]]
) -> None:
    """rules, "The clock of the emulator"; "The records of the emulator"."""
    server.reset()
    owner = 99
    server.add("subscribers", {"subscriber_id": owner, "first_name": "Owner"})
    expected: Records = {("subscribers", owner): "Owner"}
    poller = Poller(server)
    with poller.client:
        for step, *values in steps:
            take(server, poller, expected, step, values)
            if step.startswith("poll"):
                poller.poll()
                assert poller.copy == expected
        poller.poll()
        assert poller.copy == expected


def take(
    server: MastheadServer, poller: Poller, expected: Records, step: str, values: list[Any]
) -> None:
    """Take a step, and keep account of what should be there."""
    if step == "put":
        kind, number, text = values
        key, column = COLUMNS[kind]
        record = {key: number, column: text}
        if (kind, number) in expected:
            server.change(kind, record)
        else:
            server.add(kind, {**({} if kind == "subscribers" else {"subscriber_id": 99}), **record})
        expected[kind, number] = text
    elif step == "remove":
        kind, number = values
        if expected.pop((kind, number), None) is not None:
            server.remove(kind, number)
    elif step == "move":
        server.clock.move(seconds=values[0])
    elif step == "new epoch":
        server.faults.new_epoch()
    elif step == "poll badly":
        server.faults.cut_after(1, path=values[0])
        before = dict(poller.copy)
        try:
            poller.poll()
        except ServiceUnreachable:
            assert poller.copy == before
        server.faults.clear()
