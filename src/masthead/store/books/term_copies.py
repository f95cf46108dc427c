"""Changing the copies of the term that is delivered next (circulation, "Copies")."""

from typing import Literal, NamedTuple

from masthead.circulation.amounts import in_currency
from masthead.circulation.copy_classes import COMPLIMENTARY
from masthead.circulation.earned_share import Spread, earned
from masthead.contract.printable import counted
from masthead.contract.subscription_types import UNLIMITED
from masthead.errors import BadInput
from masthead.store.books.names import subscription_named
from masthead.store.books.operation import Operation
from masthead.store.books.own_classes import check_class
from masthead.store.books.serving_sql import NEXT_TERM

How = Literal["free", "convert"]
_PARTS_MAX = 2**63 - 1


class NextTerm(NamedTuple):
    """The term that is delivered next: its issues, copies and money (``contract.books.Term``)."""

    term_id: int
    issues: int
    issues_left: int
    copies: int
    free_copies: int
    price: int
    allowed: int
    spread_after: int
    spread_earned: int
    spread_parts: int | None

    @property
    def spread(self) -> Spread:
        """How the term's money is spread over its issues."""
        return Spread(
            self.allowed, self.spread_after, self.spread_earned, self.spread_parts, self.copies
        )


class CopiesSet(NamedTuple):
    """How many copies of each issue came before, and come now.

    ``converted`` says how the issues left were converted; "" if they were not.
    """

    before: int
    after: int
    converted: str = ""


def next_term(books: Operation, subscription_id: int) -> NextTerm | None:
    """Return the term out of which the next issue comes; None if no issue is left."""
    return books.row_as(
        NextTerm,
        f"""
        SELECT t.term_id, t.issues, t.issues_left, t.copies, t.free_copies, t.price,
            t.allowed, t.spread_after, t.spread_earned, t.spread_parts
        FROM terms AS t WHERE t.account_id = :account_id AND t.term_id = ({NEXT_TERM})
        """,
        subscription_id=subscription_id,
    )


def set_copies(
    books: Operation,
    subscription_id: int,
    copies: int,
    how: How | None = None,
    free_class: str | None = None,
) -> CopiesSet:
    """Change how many copies of each issue come; return what changed.

    With ``free``, the copies above the paid ones are of ``free_class``, complimentary by default.
    With ``convert``, the issues left change so that issues times copies stay the same, rounded
    down; the rest of the money is earned with the term's last issue. Later terms keep their own
    copies. Raises BadInput if issues are left and ``how`` is None, or if ``how`` is not possible.
    """
    term = next_term(books, subscription_id)
    if term is None:
        before = _copies_of_grace(books, subscription_id, copies, how)
    else:
        before = term.copies + term.free_copies
        if before == copies and how is None:
            return CopiesSet(before, copies)
        if how is None:
            raise BadInput(_how(books, subscription_id, term, copies), code="copies_of_term")
        if how == "free":
            _add_free(books, term, copies, check_class(books, free_class or COMPLIMENTARY))
        else:
            _convert(books, subscription_id, term, copies)
    converted = ""
    if term is not None and how == "convert" and term.copies != copies:
        converted = _converted(term, next_term(books, subscription_id))
    return CopiesSet(before, copies, converted)


def _converted(old: NextTerm, new: NextTerm | None) -> str:
    if new is None or old.issues == UNLIMITED:
        return ""
    were = f"{counted(old.issues_left, 'issue')} of {counted(old.copies, 'copy', 'copies')}"
    are = f"{counted(new.issues_left, 'issue')} of {counted(new.copies, 'copy', 'copies')}"
    return f"{were} were converted into {are}"


def _how(books: Operation, subscription_id: int, term: NextTerm, copies: int) -> str:
    left = "unlimited"
    if term.issues >= 0:
        left = counted(term.issues_left, "issue left", "issues left")
    return (
        f"{subscription_named(books, subscription_id)} gets "
        f"{counted(term.copies, 'copy', 'copies')} of each issue of what is left ({left}, for "
        f"{in_currency(term.price, books.currency)}): say how it comes to {copies}, by free copies "
        "beside them, or by converting what is left into fewer or more issues"
    )


def _copies_of_grace(books: Operation, subscription_id: int, copies: int, how: How | None) -> int:
    """Set the copies of a subscription without issues left; they apply to grace issues only."""
    if how is not None:
        raise BadInput(
            f"{subscription_named(books, subscription_id)} has no issues left, so that nothing can "
            "be added or converted: an order says how many copies it has"
        )
    before = books.value_as(
        int,
        """
        SELECT copies FROM subscriptions
        WHERE account_id = :account_id AND subscription_id = :subscription_id
        """,
        subscription_id=subscription_id,
    )
    if before != copies:
        books.change(
            """
            UPDATE subscriptions SET copies = :copies, commit_id = :commit_id
            WHERE account_id = :account_id AND subscription_id = :subscription_id
            """,
            subscription_id=subscription_id,
            copies=copies,
            commit_id=books.commit_id,
        )
    return before or 0


def _add_free(books: Operation, term: NextTerm, copies: int, free_class: str) -> None:
    more = copies - term.copies
    if more < 0:
        raise BadInput(
            f"{term.copies} copies of each issue are paid or given already: fewer come of "
            "converting what is left",
            code="copies_of_term",
        )
    _update(books, term, free_copies=more, free_class=free_class if more else None)


def _convert(books: Operation, subscription_id: int, term: NextTerm, copies: int) -> None:
    if term.issues == UNLIMITED:
        if term.price and copies != term.copies:
            raise BadInput(
                f"{subscription_named(books, subscription_id)} is unlimited and earned by months, "
                "so that there are no issues to convert: add free copies, or cancel it and take an "
                "order",
                code="copies_of_term",
            )
        _update(books, term, copies=copies, free_copies=0, free_class=None)
        return
    if copies == term.copies:
        _update(books, term, free_copies=0, free_class=None)
        return
    parts = term.issues_left * term.copies
    left = parts // copies
    if not left or parts * term.price > _PARTS_MAX:
        raise BadInput(
            f"{term.issues_left} issues of {term.copies} copies are left, "
            f"which is no whole issue of {copies}: add free copies, or take an order",
            code="copies_of_term",
        )
    done = term.issues - term.issues_left
    _update(
        books,
        term,
        issues=done + left,
        issues_left=left,
        copies=copies,
        free_copies=0,
        free_class=None,
        spread_after=done,
        spread_earned=earned(term.price, term.issues, done, term.spread),
        spread_parts=parts,
    )


def _update(books: Operation, term: NextTerm, **values: int | str | None) -> None:
    sets = ", ".join(f"{name} = :{name}" for name in values)
    books.change(
        f"UPDATE terms SET {sets} WHERE account_id = :account_id AND term_id = :term_id",
        term_id=term.term_id,
        **values,
    )
