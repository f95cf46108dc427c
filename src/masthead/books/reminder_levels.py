"""The levels of reminders: when each is due, what it costs, what it does (billing, "Reminders").

All amounts are whole cents.
"""

from typing import NamedTuple

from masthead.billing.reminding import Level, checked_level, in_words
from masthead.books.account import Books
from masthead.circulation.amounts import in_currency
from masthead.contract.printable import counted
from masthead.errors import NotFound
from masthead.store.billing import reminders as stored

__all__ = ["Level", "LevelSet", "Removed", "levels", "remove_level", "set_level"]


class LevelSet(NamedTuple):
    """A level as it is stored."""

    level: Level
    currency: str

    @property
    def sentence(self) -> str:
        """When the level is due, its fee, and what it does."""
        each = self.level
        said = f"level {each.level}: {counted(each.days, 'day')} after the due day"
        said += f", fee {in_currency(each.fee, self.currency)}" if each.fee else ", no fee"
        if each.then_do != "nothing":
            said += f", then {in_words(each.then_do)}"
        return f"{said}, with a text of its own" if each.text else said


class Removed(NamedTuple):
    """A level that was removed."""

    number: int

    @property
    def sentence(self) -> str:
        """What the operation did."""
        return f"level {self.number} of reminders was removed"


def levels(books: Books) -> list[LevelSet]:
    """Return the levels in their order."""
    with books.read() as reading:
        return [LevelSet(each, reading.currency) for each in stored.levels_of(reading)]


def set_level(books: Books, level: Level, *, dry_run: bool = False) -> LevelSet:
    """Add a level, or replace the one with its number by all values of ``level``.

    Reminders that were written keep theirs. Raises BadInput, with the ``field``, for values that
    there are not, if a later level would not be due after an earlier one, and if a level that stops
    or writes off is not the last one.
    """
    with books.change(dry_run=dry_run) as change:
        before = stored.levels_of(change)
        level = checked_level(level, before)
        done = LevelSet(level, change.currency)
        if level not in before:
            stored.put_level(change, level)
            change.say(done.sentence)
    return done


def remove_level(books: Books, number: int, *, dry_run: bool = False) -> Removed:
    """Remove a level; its reminders stay. Raises NotFound if there is none."""
    with books.change(dry_run=dry_run) as change:
        if not stored.remove_level(change, number):
            raise NotFound(f"there is no level {number} of reminders")
        done = Removed(number)
        change.say(done.sentence)
    return done
