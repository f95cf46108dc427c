"""Mails that came back, and the addresses that they put on hold (billing, "E-mail").

Nothing is queued or sent to an address on hold, until a person releases it.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from masthead.books.account import Books
from masthead.contract.printable import counted
from masthead.errors import NotFound
from masthead.mail import addresses
from masthead.mail.bounces import Bounce, bounces_in
from masthead.store.billing import held_addresses as stored
from masthead.store.billing.held_addresses import HeldAddress
from masthead.store.books.operation import Operation
from masthead.store.search_filters import ascii_lower

__all__ = [
    "BouncesRead",
    "HeldAddress",
    "Released",
    "find",
    "hold",
    "listed",
    "read_bounces",
    "release",
]

_CAME_BACK = "it came back"


class BouncesRead(NamedTuple):
    """What the mails of a mailbox said.

    ``held`` are addresses that are on hold now, ``known`` bounces were read before or are of
    addresses on hold. ``unknown`` are addresses to which the account sent nothing; ``others`` is
    how many mails are no bounces.
    """

    mails: int
    held: Sequence[str]
    known: int
    delayed: int
    unknown: Sequence[str]
    others: int

    @property
    def sentence(self) -> str:
        """How many addresses are on hold now, and what the other mails were."""
        said = f"{counted(self.mails, 'mail')} read; "
        said += f"{counted(len(self.held), 'address', 'addresses')} put on hold"
        if self.known:
            said += f"; {counted(self.known, 'bounce')} known before"
        if self.delayed:
            said += f"; {counted(self.delayed, 'mail')} still on the way"
        if self.unknown:
            said += f"; {counted(len(self.unknown), 'address', 'addresses')} unknown here"
        if self.others:
            said += f"; {counted(self.others, 'mail')} no bounce"
        return said


class Released(NamedTuple):
    """An address that gets mails again; ``mails`` of them are queued now."""

    subscriber_id: int | None
    mails: int

    @property
    def sentence(self) -> str:
        """Whose address gets mails again; the audit entry names no address."""
        whose = "an address" if self.subscriber_id is None else "the address of subscriber "
        said = f"{whose}{self.subscriber_id or ''} gets mails again"
        return f"{said}; {counted(self.mails, 'mail')} queued again" if self.mails else said


def read_bounces(books: Books, path: Path, *, dry_run: bool = False) -> BouncesRead:
    """Read the bounces of a file or a folder, and put the addresses that take no mails on hold.

    A mail that came back is a failed one. A bounce that was read before changes nothing. Raises
    BadInput if there is no such file, and if the package that reads bounces is missing.
    """
    found = list(bounces_in(path))
    with books.change(dry_run=dry_run) as change:
        tally = _Tally(change)
        for bounce in found:
            tally.read(bounce)
        done = tally.done(len(found))
        if done.held:
            change.say(done.sentence)
    return done


def hold(books: Books, address: str, reason: str) -> None:
    """Put an address on hold that a server refused as unknown; nothing changes if it is already."""
    with books.change() as change:
        if stored.held_address(change, address) is None:
            owner = stored.owner_of(change, address)
            stored.hold_address(change, address, owner, reason, 1)
            whose = "an address" if owner is None else f"the address of subscriber {owner}"
            change.say(f"{whose} is on hold: the mail server refused it")


def release(books: Books, address: str, *, dry_run: bool = False) -> Released:
    """Take an address off hold; the mails to it that wait are queued again.

    Raises NotFound if it is not on hold.
    """
    with books.change(dry_run=dry_run) as change:
        held = stored.held_address(change, address.strip())
        if held is None:
            raise NotFound("the address is not on hold", code="not_on_hold")
        done = Released(held.subscriber_id, stored.release_address(change, held))
        change.say(done.sentence)
    return done


def listed(books: Books, *, after: int = 0, limit: int = 100) -> list[HeldAddress]:
    """Return the addresses on hold, by id."""
    with books.read() as reading:
        return stored.held_addresses(reading, after=after, limit=limit)


def find(books: Books, held_address_id: int) -> HeldAddress | None:
    """Return an address on hold by its id, None if there is none."""
    found = listed(books, after=held_address_id - 1, limit=1)
    return found[0] if found and found[0].held_address_id == held_address_id else None


class _Tally:
    """Counts what the bounces of one operation were."""

    def __init__(self, change: Operation) -> None:
        self._change = change
        self._held = Counter[str]()
        self._unknown = dict[str, None]()
        self._counts = Counter[str]()

    def done(self, mails: int) -> BouncesRead:
        """Return what was read."""
        return BouncesRead(
            mails,
            list(self._held),
            self._counts["known"],
            self._counts["delayed"],
            list(self._unknown),
            self._counts["others"],
        )

    def read(self, bounce: Bounce) -> None:
        """Note what one mail says."""
        if not bounce.addresses:
            self._counts["delayed" if bounce.delayed else "others"] += 1
            return
        own = stored.mails_with(self._change, bounce.message_ids)
        if own:
            for mail in own:
                if mail.is_known:
                    self._counts["known"] += 1
                    continue
                reason = self._reason(bounce, mail.address)
                stored.note_returned(self._change, mail.mail_id, reason)
                self._hold(mail.address, reason)
            return
        for address in bounce.addresses:
            owner = stored.owner_of(self._change, address)
            if owner is None or not stored.was_mailed(self._change, owner, address):
                self._unknown[address] = None
            else:
                self._hold(address, self._reason(bounce, address))

    def _reason(self, bounce: Bounce, address: str) -> str:
        said = f"{_CAME_BACK}: {bounce.reason}" if bounce.reason else _CAME_BACK
        for each in (address, *bounce.addresses):
            said = addresses.without(said, each)
        return said

    def _hold(self, address: str, reason: str) -> None:
        if stored.held_address(self._change, address) is not None:
            self._counts["known"] += 1
            return
        owner = stored.owner_of(self._change, address)
        stored.hold_address(self._change, address, owner, reason, 1)
        self._held[ascii_lower(address)] += 1
