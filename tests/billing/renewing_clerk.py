"""What the clerk of the model does about automatic renewal, to both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from masthead.books import automatic_renewals, catalogue, renewal_consents
from tests.billing.offers import TWO_ISSUES
from tests.billing.renewal_model import Fact

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.billing.clerk import Clerk
    from tests.circulation.desk import Desk


def facts_of(desk: Desk) -> dict[int, Fact]:
    """Return what circulation has of each subscription with a term."""
    terms = desk.table("terms")
    ending = {row["subscription_id"] for row in desk.table("cancellations") if not row["ended_on"]}
    gone = {row["subscriber_id"] for row in desk.table("subscribers") if row["delete_date"]}
    coming: dict[int, list[str]] = {}
    for row in desk.table("issues"):
        if not row["closed_at"]:
            coming.setdefault(row["publication_id"], []).append(str(row["date"]))
    found = {}
    for row in desk.table("subscriptions"):
        key, expired = row["subscription_id"], row["date_expired"] or ""
        own = [(_rank(each), number) for number, each in enumerate(terms)
               if each["subscription_id"] == key]  # fmt: skip
        if own:
            found[key] = Fact(
                row["publication_id"],
                max(own)[1],
                max((day for day in coming[row["publication_id"]] if day <= expired), default=None),
                bool(row["issues"]),
                bool(row["cancelled_on"]) or key in ending or row["subscriber_id"] in gone,
            )
    return found


def _rank(term: dict[str, Any]) -> int:
    """Return how much a term is the present one: one with issues, then any other, then free."""
    if term["kind"] == "extension":
        return 0
    return 2 if term["ended_at"] is None and term["issues_left"] != 0 else 1


def _subscription(clerk: Clerk, term: int) -> int:
    return int(clerk.desk.table("terms")[term]["subscription_id"])


def agree(clerk: Clerk, term: int) -> bool:
    """The reader of a term agrees to automatic renewal."""
    key, books = _subscription(clerk, term), clerk.desk.books
    return clerk.both(
        lambda: renewal_consents.give(books, key, TWO_ISSUES, "yes, go on"),
        lambda: clerk.model.renewals.agree(key),
        may_refuse=True,
    )


def disagree(clerk: Clerk, term: int) -> bool:
    """The reader of a term stops automatic renewal."""
    key, facts = _subscription(clerk, term), facts_of(clerk.desk)
    return clerk.both(
        lambda: renewal_consents.stop(clerk.desk.books, key),
        lambda: clerk.model.renewals.disagree(key, facts),
    )


def night(clerk: Clerk) -> bool:
    """Announce and order what is due."""
    facts, books = facts_of(clerk.desk), clerk.desk.books

    def product() -> None:
        automatic_renewals.announce(books)
        automatic_renewals.renew(books)

    return clerk.both(product, lambda: clerk.model.renewals.night(clerk.model, facts))


def reprice(clerk: Clerk, net: int) -> bool:
    """The renewing bundle has another price from now on."""
    tax = net * 7 // 100
    catalogue.set_bundle(clerk.desk.books, TWO_ISSUES, {"price": net, "tax": tax})
    clerk.model.renewals.net, clerk.model.renewals.tax = net, tax
    return True


OPERATIONS: dict[str, Callable[..., bool]] = {
    "agree": agree,
    "disagree": disagree,
    "night": night,
    "reprice": reprice,
}
"""The operations by their names in sequences."""
