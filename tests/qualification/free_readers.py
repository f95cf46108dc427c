"""Who gets an issue by a qualification, in plain Python (qualification, "Served").

``store.books.qualified_copies`` has the rule in SQL; ``test_serving`` compares the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.circulation.desk import Desk


class Free(NamedTuple):
    """A reader of a free title on the date of an issue.

    ``pays``: a term gives the issue. ``may``: the subscription has begun, runs, and is not paused.
    """

    key: int
    audit_class: int
    qualified_on: str
    valid_until: str
    request_position: int
    is_served: bool
    copies: int
    type: str
    has_address: bool
    may: bool
    pays: bool


def served_free(
    readers: Sequence[Free],
    day: str,
    quotas: Mapping[int, int],
    fills: str,
    gone: Mapping[int, int],
) -> dict[int, str]:
    """Return who gets a qualified copy (''), and why others who qualify do not.

    ``quotas`` are the most copies of each class that has a ceiling, ``gone`` the copies that it got
    already. A reader who no longer fits in ends the filling of the class: later ones wait.
    """
    found: dict[int, str] = {}
    taken, full = dict(gone), set[int]()
    by_day = sorted(readers, key=lambda each: (each.qualified_on, -each.key), reverse=True)
    if fills == "request":
        by_day.sort(key=lambda each: each.request_position)
    for each in by_day:
        is_valid = each.qualified_on <= day <= each.valid_until
        if each.pays or not (each.is_served and is_valid and each.may):
            continue
        if each.type != "Digital" and not each.has_address:
            found[each.key] = "no address"
            continue
        count = taken.get(each.audit_class, 0) + each.copies
        quota = quotas.get(each.audit_class)
        if each.audit_class in full or (quota is not None and count > quota):
            full.add(each.audit_class)
            found[each.key] = f"over the quota of class {'AB'[each.audit_class - 1]}"
            continue
        taken[each.audit_class] = count
        found[each.key] = ""
    return found


def put_form(
    desk: Desk, *, fills: str = "newest", a: int | None = None, b: int | None = None
) -> None:
    """Let publication 1 be free to two classes, A and B, with the quotas ``a`` and ``b``."""
    desk.put("qualification_forms", publication_id=1, months=36, fills=fills, type="Print")
    desk.put_many(
        "audit_classes",
        [
            {"audit_class_id": n, "publication_id": 1, "position": n, "code": c, "quota": quota}
            for n, (c, quota) in enumerate([("A", a), ("B", b)], 1)
        ],
    )


def put_qualified(desk: Desk, readers: Sequence[Free], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the subscriptions of readers, ``rows``, and the newest qualification of each."""
    desk.put_many("subscriptions", [{"issues": -1, **row} for row in rows])
    same: list[dict[str, Any]] = [
        {
            "qualification_id": each.key,
            "subscription_id": each.key,
            "publication_id": 1,
            "audit_class_id": each.audit_class,
            "qualified_on": each.qualified_on,
            "valid_until": each.valid_until,
        }
        for each in readers
    ]
    more: dict[str, Any] = {
        "subscriber_id": 1,
        "request_type": "web",
        "recorded_at": "2026-03-01 12:00:00",
    }
    desk.put_many("qualifications", [{**row, **more} for row in same])
    desk.put_many(
        "qualified_subscriptions",
        [
            {
                **row,
                "class_position": each.audit_class,
                "request_position": each.request_position,
                "served": int(each.is_served),
            }
            for row, each in zip(same, readers, strict=True)
        ],
    )
