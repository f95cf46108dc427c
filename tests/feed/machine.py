"""The schedules: loads, polls, crashes and clocks in any order, as Hypothesis draws them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.feed.client import BY_DATE, BY_HEADER, BY_OWN_CLOCK, Client, Form
from tests.feed.model import EDITS, ENTITIES, REMOVALS, key_of
from tests.feed.world import ACCOUNT_IDS, SECOND_US, World

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.feed.model import Edit, Key
    from tests.feed.places import Place


def _step(name: str, **arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(st.just(name), st.fixed_dictionaries(arguments))


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
    ["hide", "show", "leave alone", "leave alone", "restart", *["back up or restore"] * 3]
)
"""What an operator does; a service that is left alone stamps what waits."""

_AT_ONCE = st.lists(
    st.sampled_from(["tick", "step", "back", "commit", "remove", "stamp", "poll", "finish"]),
    max_size=3,
)
_WHILE_STAMPING = st.lists(_AT_ONCE, max_size=2) | st.just([["tick", "stamp", "poll", "commit"]])
_WHILE_ANSWERING = st.lists(_AT_ONCE, max_size=3) | st.builds(
    lambda readings, change: [*[[]] * readings, [*change, "stamp", "step"]],
    st.integers(0, 2),
    st.sampled_from([["commit"], ["remove"], ["back", "remove"]]),
)
"""What happens at the next readings of the clock, before those who read it can go on: anything, or
the worst by which they can be overtaken."""

_STEPS = st.one_of(
    _step(
        "load",
        account_id=_ACCOUNTS,
        edits=_LOADS,
        removals=st.just([]) | st.lists(REMOVALS, max_size=2),
        meanwhile=st.just([]) | st.just(["step", "poll"]) | _AT_ONCE,
        end=st.integers(0, 3),
        stamping=_WHILE_STAMPING,
    ),
    _step("end_load", account_id=_ACCOUNTS, is_killed=st.booleans()),
    _step("stamp", account_id=_ACCOUNTS, meanwhile=_WHILE_STAMPING),
    _step(
        "poll",
        numbers=st.lists(st.integers(0, 4), min_size=1, max_size=4),
        after_us=st.sampled_from([0, 0, 1, SECOND_US]),
        form=_FORMS,
        is_behind=st.sampled_from([False, False, True]),
        meanwhile=_WHILE_ANSWERING,
        between=st.just([]) | _WHILE_ANSWERING,
        reads=st.sampled_from([0, 1, 6, None, None, None]),
    ),
    _step("set_clock", by_us=_FORWARD | _BACK),
    _step("operate", account_id=_ACCOUNTS, event=_EVENTS),
)


class Schedules(RuleBasedStateMachine):
    """Any order of what can happen to a service and its clients.

    Where the clock may be set back, all clients go by the header: the others are promised nothing
    then (architecture, "The change feed").
    """

    place: ClassVar[Place]
    running: ClassVar[World]

    def __init__(self) -> None:
        super().__init__()
        self.world = World(self.place)
        type(self).running = self.world
        self.clients: list[Client] = []
        self.cities = 0
        self.is_stamping = False

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

    @rule(step=_STEPS)
    def go_on(self, step: tuple[str, dict[str, Any]]) -> None:
        """Do what the step says.

        There is one rule for all, because Hypothesis leaves some rules out of each schedule.
        """
        name, given = step
        getattr(self, name)(**given)

    def load(
        self,
        account_id: int,
        edits: list[Edit],
        removals: list[Key],
        meanwhile: list[str],
        end: int,
        stamping: list[list[str]],
    ) -> None:
        """Load something, as far as ``end``: begun, committed, or stamped too."""
        if account_id not in self.world.free:
            self.end_load(account_id, is_killed=False)
        self.world.open_load(account_id, edits, removals)
        self.happen(meanwhile)
        if end > 0 and account_id in self.world.loads:
            self.world.commit(account_id)
        if end > 1:
            self.stamp(account_id, stamping)

    def end_load(self, account_id: int, is_killed: bool) -> None:
        """Let an open load commit, or kill it before."""
        loads = list(self.world.loads)
        for loading in [account_id] if account_id in loads else loads[:1]:
            if is_killed:
                self.world.roll_back(loading)
            else:
                self.world.commit(loading)

    def stamp(self, account_id: int, meanwhile: list[list[str]]) -> None:
        """Stamp an account's commits; all the rest goes on when the stamper looks at the clock.

        What was committed then is stamped right after, by the process that loaded it.
        """
        if self.world.is_exclusive:
            return
        self.interrupt(meanwhile)
        self.is_stamping = True
        self.world.stamp(account_id)
        self.is_stamping = False
        self.world.clock.interruptions.clear()
        if meanwhile:
            self.world.stamp(account_id)

    def poll(
        self,
        numbers: list[int],
        after_us: int,
        form: Form,
        is_behind: bool,
        meanwhile: list[list[str]],
        between: list[list[str]],
        reads: int | None,
    ) -> None:
        """Let clients ask, and read some pieces of the changes or (None) all of both answers.

        ``between`` happens while the deletions are asked for, after the changes or before them.
        """
        self.world.clock.step(after_us)
        for number in numbers:
            client = self.clients[number % len(self.clients)]
            if client.poll is None:
                if is_behind:
                    self.interrupt(between)
                    client.ask_for_deletions(form)
                self.interrupt(meanwhile)
                client.open_poll(form)
            for _ in range(reads or 0):
                client.read_on()
            if reads is None:
                self.interrupt(between)
                client.finish()
                self.world.clock.interruptions.clear()

    def set_clock(self, by_us: int) -> None:
        """Let time pass, or set the server's clock back."""
        self.world.clock.step(by_us if self.is_set_back else abs(by_us))

    def operate(self, account_id: int, event: str) -> None:
        """Do what an operator does beside loading."""
        if event in {"hide", "show"}:
            if account_id in self.world.free:
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

    def interrupt(self, moments: list[list[str]]) -> None:
        """Let these happen at the next readings of the clock."""
        self.world.clock.interruptions = [partial(self.happen, events) for events in moments]

    def happen(self, events: list[str]) -> None:
        """Let these happen now."""
        happenings: dict[str, Callable[[], None]] = {
            "tick": lambda: self.set_clock(1),
            "step": lambda: self.set_clock(SECOND_US),
            "back": lambda: self.set_clock(-SECOND_US),
            "commit": self.commit_something,
            "remove": self.remove_something,
            "stamp": self.try_to_stamp_all,
            "poll": self.poll_all,
            "finish": self.finish_all,
        }
        for event in events:
            happenings[event]()

    def commit_something(self) -> None:
        """Let all open loads commit, or a new one where there is none."""
        if not self.world.loads:
            city = str(self.cities)
            address = {"address_id": 1, "subscriber_id": 1}
            self.world.try_to_load(1, [("addresses", {**address, "city": city})])
            self.cities += 1
        self.commit_all()

    def remove_something(self) -> None:
        """Let all open loads commit, or one that removes a record or brings it back."""
        if not self.world.loads:
            purchase = {"purchase_id": 1, "subscriber_id": 1}
            if key_of(("purchases", purchase)) in self.world.models[1].rows:
                self.world.try_to_load(1, [], [("purchases", (1,))])
            else:
                self.world.try_to_load(1, [("purchases", purchase)])
        self.commit_all()

    def commit_all(self) -> None:
        """Let all open loads commit."""
        for account_id in list(self.world.loads):
            self.world.commit(account_id)

    def try_to_stamp_all(self) -> None:
        """Stamp what waits, if the lock is free."""
        for account_id in ACCOUNT_IDS:
            self.world.try_to_stamp(account_id)

    def poll_all(self) -> None:
        """Let all clients that wait for no response ask for one, and read it.

        While stamps are being made, one that goes by its own clock may have a time from between
        the stamp and its commit, and keep a ``modified_date`` of null.
        """
        for client in self.clients:
            is_too_early = self.is_stamping and client.goes_by == BY_OWN_CLOCK
            if client.poll is None and not client.is_busy and not is_too_early:
                client.open_poll(Form(0, floored=False))
                client.finish()

    def finish_all(self) -> None:
        """Let all clients read their answers to the end."""
        for client in self.clients:
            if client.poll:
                client.finish()

    def teardown(self) -> None:
        """When it is quiet again, every copy must be whole."""
        try:
            self.finish_all()
            self.commit_all()
            for _ in range(2):
                for client in self.clients:
                    client.open_poll(Form(0, floored=False))
                    client.finish()
                self.world.stamp_as_server()
        finally:
            for client in self.clients:
                client.abandon()
            self.world.close()


def schedules(place: Place) -> type[Schedules]:
    """Return the schedules whose database has that place."""
    return type("SchedulesHere", (Schedules,), {"place": place})
