"""The schedules: loads, polls, crashes and clocks in any order, as Hypothesis draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.feed.client import BY_DATE, BY_HEADER, BY_OWN_CLOCK, Client, Form
from tests.feed.model import EDITS, ENTITIES, key_of
from tests.feed.world import ACCOUNT_IDS, SECOND_US, World

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.feed.model import Edit
    from tests.servers import Store

__all__ = ["Schedules", "schedules"]

_DAY_US = 86_400 * SECOND_US
_FORMS = st.builds(
    Form,
    offset_minutes=st.sampled_from([0, 0, 60, 330, 345, 765, 840, -210, -720]),
    floored=st.booleans(),
)
_FORWARD = st.sampled_from(
    [1, 1, 2, 999, 400_000, SECOND_US, 7 * SECOND_US, 3_700 * SECOND_US, 6 * _DAY_US]
)
_BACK = st.sampled_from([-1, -2, -SECOND_US, -40 * SECOND_US, -3_700 * SECOND_US, -2 * _DAY_US])
_ACCOUNTS = st.sampled_from([*ACCOUNT_IDS, ACCOUNT_IDS[0]])
_LOADS = st.lists(EDITS, min_size=1, max_size=4, unique_by=key_of)
_EVENTS = st.sampled_from(
    ["hide", "show", "leave alone", "leave alone", "restart", *["back up or restore"] * 2]
)
"""What an operator does; a service that is left alone stamps what waits."""

_MEANWHILE = st.lists(
    st.sampled_from(["nothing", "tick", "step", "commit", "stamp", "finish"]), max_size=3
)


class Schedules(RuleBasedStateMachine):
    """Any order of what can happen to a service and its clients.

    Where the clock may be set back, all clients go by the header: the others are promised nothing
    then (design, "The change feed").
    """

    kind: ClassVar[Store]
    template: ClassVar[str]
    running: ClassVar[World]

    def __init__(self) -> None:
        super().__init__()
        self.world = World(self.kind, self.template)
        type(self).running = self.world
        self.clients: list[Client] = []

    @initialize(is_set_back=st.booleans(), late_us=st.sampled_from([0, 0, 1, 1_500_000]))
    def begin(self, is_set_back: bool, late_us: int) -> None:
        """Choose the clients."""
        everything = list(ENTITIES)
        others = [] if is_set_back else [BY_DATE, BY_OWN_CLOCK]
        self.is_set_back = is_set_back
        self.clients = [
            Client(self.world, 1, everything, BY_HEADER),
            Client(self.world, 1, ["orders", "customfields"], BY_HEADER),
            Client(self.world, 2, everything, BY_HEADER),
            *(Client(self.world, 1, everything, goes_by, late_us) for goes_by in others),
        ]

    @rule(account_id=_ACCOUNTS, edits=_LOADS, end=st.integers(0, 3))
    @precondition(lambda self: not self.world.load)
    def load(self, account_id: int, edits: list[Edit], end: int) -> None:
        """Load something, as far as ``end``: begun, committed, or stamped too."""
        self.world.open_load(account_id, edits)
        if end > 0:
            self.world.commit()
        if end > 1:
            self.world.stamp(account_id)

    @rule(is_killed=st.booleans())
    @precondition(lambda self: self.world.load)
    def end_load(self, is_killed: bool) -> None:
        """Let the open load commit, or kill it before."""
        if is_killed:
            self.world.roll_back()
        else:
            self.world.commit()

    @rule(account_id=_ACCOUNTS, meanwhile=_MEANWHILE)
    @precondition(lambda self: not self.world.load)
    def stamp(self, account_id: int, meanwhile: list[str]) -> None:
        """Stamp an account's commits; polls and time go on between lock and commit."""
        self.interrupt([event for event in meanwhile if event in {"tick", "finish"}])
        self.world.stamp(account_id)
        self.world.clock.interruptions.clear()

    @rule(
        numbers=st.lists(st.integers(0, 4), min_size=1, max_size=4),
        after_us=st.sampled_from([0, 0, 1, SECOND_US]),
        form=_FORMS,
        meanwhile=_MEANWHILE,
        reads=st.sampled_from([0, 1, 6, None, None, None]),
    )
    def poll(
        self,
        numbers: list[int],
        after_us: int,
        form: Form,
        meanwhile: list[str],
        reads: int | None,
    ) -> None:
        """Let clients ask, and read some pieces of the answer or (None) all of it."""
        self.world.clock.step(after_us)
        for number in numbers:
            client = self.clients[number % len(self.clients)]
            if client.poll is None:
                self.interrupt(meanwhile)
                client.open_poll(form)
            for _ in range(reads or 0):
                client.read_on()
            if reads is None:
                client.finish()

    @rule(by_us=_FORWARD | _BACK)
    def set_clock(self, by_us: int) -> None:
        """Let time pass, or set the server's clock back."""
        self.world.clock.step(by_us if self.is_set_back else abs(by_us))

    @rule(account_id=_ACCOUNTS, event=_EVENTS)
    @precondition(lambda self: not self.world.load)
    def operate(self, account_id: int, event: str) -> None:
        """Do what an operator does beside loading."""
        if event in {"hide", "show"}:
            self.world.hide_password_md5(account_id, hide=event == "hide")
        elif event == "leave alone":
            self.world.stamp_as_server()
        else:
            for client in self.clients:
                client.abandon()
            if event == "restart":
                self.world.restart()
            elif self.world.backup:
                self.world.restore()
            else:
                self.world.back_up()

    def interrupt(self, events: list[str]) -> None:
        """Let these happen at the next readings of the clock, one at each."""
        happenings: dict[str, Callable[[], None]] = {
            "nothing": lambda: None,
            "tick": lambda: self.world.clock.step(1),
            "step": lambda: self.world.clock.step(SECOND_US),
            "commit": lambda: self.world.commit() if self.world.load else None,
            "stamp": self.stamp_unless_loading,
            "finish": self.finish_all,
        }
        self.world.clock.interruptions = [happenings[event] for event in events]

    def stamp_unless_loading(self) -> None:
        """Stamp what waits, where no load holds the lock."""
        if not self.world.load:
            for account_id in ACCOUNT_IDS:
                self.world.stamp(account_id)

    def finish_all(self) -> None:
        """Let all clients read their answers to the end."""
        for client in self.clients:
            if client.poll:
                client.finish()

    def teardown(self) -> None:
        """When it is quiet again, every copy must be whole."""
        try:
            self.finish_all()
            if self.world.load:
                self.world.commit()
            for _ in range(2):
                for client in self.clients:
                    client.open_poll(Form(0, floored=False))
                    client.finish()
                self.world.stamp_as_server()
        finally:
            for client in self.clients:
                client.abandon()
            self.world.close()


def schedules(kind: Store, template: str) -> type[Schedules]:
    """Return the schedules that begin with a copy of the database ``template``."""
    return type("SchedulesHere", (Schedules,), {"kind": kind, "template": template})
