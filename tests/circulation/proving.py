"""The product and the model side by side: each operation is done to both, and all is compared."""

from __future__ import annotations

import pickle
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from masthead.errors import MastheadError
from tests.circulation.beginning import GIVEN, begin
from tests.circulation.doing import Office
from tests.circulation.following import Follower
from tests.circulation.holding import check_files, check_money, check_revenue, journal
from tests.circulation.model import Refused
from tests.circulation.shown import Differs, compare, of_model, of_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.circulation.model_operations import Books
    from tests.circulation.shown import Shown

_REFUSED = "refused"


class Proof:
    """An account with its model, and a partner's copy of it."""

    def __init__(
        self,
        url: str,
        *,
        books: Books | None = None,
        now: int | None = None,
        follower: Follower | None = None,
    ) -> None:
        """Open the account at ``url``; without ``books`` it is as ``doing.prepare`` made it."""
        self.office = Office(url)
        if books is None:
            books = begin()
            books.open_books(GIVEN)
        self.books = books
        self.office.now = now or self.office.now
        self.follower = follower or Follower(1)
        self.history: list[str] = []
        self.refused = 0
        """How many operations were refused."""
        self.done = 0
        self._now = self.shown()
        self._revenue = check_revenue(self.office, [])
        compare(self._now, of_model(self.books))
        self._poll()

    def pass_days(self, days: int) -> None:
        """Let days pass, before which the files of all lists are compared."""
        check_files(self.office)
        self.office.step(days)
        self.books.today = type(self.books.today).fromordinal(self.books.today.toordinal() + days)

    def do(self, name: str, /, *, polls: bool = False, **given: Any) -> object:
        """Do an operation to both, and compare; return its result, or ``refused``.

        With ``polls`` the copy also asks at each reading of the clock, within the operation and
        before the commit is stamped.
        """
        self.history.append(f"{name} {given}")
        self.office.step()
        self.books.moment += 1
        before, journal_before = self._now, journal(self.office)
        expected = self._expected(name, given)
        self.office.meanwhile = self._poll if polls else None
        try:
            found = getattr(self.office, name)(**given)
        except MastheadError:
            found = _REFUSED
        finally:
            self.office.meanwhile = None
        if found != expected:
            raise Differs(f"{name} {given} gave {found}, and by the model {expected}")
        self._now = self.shown()
        compare(self._now, of_model(self.books))
        self._check_journal(name, journal_before, has_changed=self._now != before)
        check_money(self.office)
        self._revenue = check_revenue(self.office, self._revenue)
        if name in {"close", "gap", "reopen"}:
            check_files(self.office, given["issue"])
        self._poll()
        self.refused += found == _REFUSED
        self.done += found != _REFUSED
        return found

    def _expected(self, name: str, given: dict[str, Any]) -> object:
        kept = pickle.dumps(self.books)
        try:
            expected = getattr(self.books, "close" if name == "preview" else name)(**given)
        except Refused:
            expected = _REFUSED
        self.books.follow_copies()
        if expected == _REFUSED or name == "preview":
            self.books = pickle.loads(kept)
        return expected

    def _check_journal(self, name: str, before: tuple[int, int], *, has_changed: bool) -> None:
        """Number 1: an operation is at most one commit, and one entry of the audit log."""
        commit, entries = journal(self.office)
        # Each time that a file is written out is in the log.
        allowed = {0, 1} if name == "file" else {int(has_changed)}
        if commit - before[0] not in {0, int(has_changed)} or entries - before[1] not in allowed:
            raise Differs(
                f"{name} made {commit - before[0]} commits and {entries - before[1]} audit "
                f"entries, and {'changed' if has_changed else 'did not change'} anything"
            )

    def shown(self) -> Shown:
        """Return what the tables hold."""
        return of_store(self.office.connection, 1)

    def _poll(self) -> None:
        self.follower.poll(self.office.store)

    def catch_up(self, name: str, given: dict[str, Any]) -> None:
        """Do an operation to the model that another process has done to the account."""
        self.office.step()
        self.books.moment += 1
        self._expected(name, given)
        self._now = self.shown()
        compare(self._now, of_model(self.books))
        self._revenue = check_revenue(self.office, self._revenue)

    def close(self) -> None:
        """Close the database."""
        self.office.leave()


@contextmanager
def proving(url: str) -> Iterator[Proof]:
    """Yield the account at ``url``, as ``doing.prepare`` made it, with its model."""
    proof = Proof(url)
    try:
        yield proof
    finally:
        proof.close()
