"""Ways in which free titles can be served or counted wrong, each of which can be planted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from masthead.store.books import audit_figures
from masthead.store.books.qualified_copies import QualifiedCopies
from tests.circulation.faults import _call, _sql
from tests.qualification.press import CHIEF, STUDENT

if TYPE_CHECKING:
    from tests.circulation.faults import Plant

FAULTS_OF_REASONS: dict[str, Plant] = {
    "a removal is judged when the file is written": _call(
        audit_figures, "_noted", lambda right, *given: right(*given)[:0]
    ),
    "a gap list of the issue before is forgotten": _call(
        audit_figures, "note_removals_of_next", lambda _right, *_given: None
    ),
    "reopening keeps the noted removals": _call(
        audit_figures, "forget_removals", lambda _right, *_given: None
    ),
}
"""Mistakes in why readers do not get an issue any more, which ``test_removals`` finds."""

FAULT_OF_LETTERS: Plant = _sql(
    r"CASE WHEN s\.issues = -1 THEN [\s\S]*? ELSE s\.issues END", "s.issues"
)
"""Renewal letters are judged by issues that count the qualification."""

FAULTS: dict[str, Plant] = {
    "an expired one is served": _sql(r"AND q\.valid_until >= :day", ""),
    "age is reckoned from the load": _sql(
        r"n\.qualified_on >= :year", "substr(n.recorded_at, 1, 10) >= :year"
    ),
    "a class counts twice": _sql(
        r"AND x\.audit_class_id = (coalesce\(n)", r"AND x.audit_class_id >= \1"
    ),
    "a gap list exceeds a quota": _sql(
        r"e\.qualification_id IS NOT NULL\s+AND :main_list IN", "FALSE AND :main_list IN"
    ),
    "an answer changes an old report": _sql(
        r"n\.qualification_id = e\.qualification_id",
        """n.qualification_id = CASE WHEN e.qualification_id IS NOT NULL THEN (
            SELECT z.qualification_id FROM qualified_subscriptions AS z
            WHERE z.account_id = :account_id AND z.subscription_id = e.subscription_id) END""",
    ),
    "a gap list changes a report that is frozen": _call(
        audit_figures, "frozen", lambda right, *given: right(*given)[:0]
    ),
    "the oldest fill a quota": _sql(r"c\.qualified_on DESC", "c.qualified_on"),
    "who is disqualified is served": _sql(r"AND q\.served = 1 AND q", "AND q"),
    "who pays is counted again as qualified": _sql(
        r"CASE WHEN q\.qualification_id IS NOT NULL THEN 'qualified'\s+",
        "CASE WHEN s.audit_classification IS NOT NULL THEN 'qualified' ",
    ),
}

_LATE = [("wait",), ("qualify", 3, "", (STUDENT,), None), ("close",)]
"""A reader who was qualified on the date of the issue is disqualified before it is closed."""

FAULTS_TOGETHER: dict[str, tuple[Plant, list[tuple[Any, ...]]]] = {
    "only the newest one counts": (
        _call(QualifiedCopies, "_are_some_later", lambda _right, *_given: False),
        _LATE,
    ),
    "a list names the newest one": (
        _sql(r"CASE WHEN q\.qualified_on <= :day THEN", "CASE WHEN TRUE THEN"),
        [("wait",), ("qualify", 3, "", (CHIEF,), None), ("close",)],
    ),
    "of those before the issue, the one that was added last counts": (
        _sql(r"ORDER BY o\.qualified_on DESC, o", "ORDER BY o"),
        [("qualify", 3, "2023-05-20", (STUDENT,), None), *_LATE],
    ),
    "a list names what another subscription of the reader has": (
        _sql(
            r"AND q\.subscription_id = d\.subscription_id",
            """AND q.subscription_id = (SELECT max(z.subscription_id) FROM subscriptions AS y
            JOIN subscriptions AS z
                ON z.account_id = :account_id AND z.subscriber_id = y.subscriber_id
            WHERE y.account_id = :account_id AND y.subscription_id = d.subscription_id)""",
        ),
        [("qualify", 3, "", (CHIEF,), "Digital"), ("close",)],
    ),
    "what was cancelled at its end goes on by a qualification": (
        _sql(r"z\.at_end = 1", "z.at_end = 2"),
        [("pay", 3, 0, 1), ("cancel_at_end", 3, 0), ("close",), ("close",)],
    ),
    "who lapsed gets grace": (
        _sql(r"AND NOT\s+EXISTS \(SELECT 1 FROM subscription_issues AS g JOIN[\s\S]*?NULL\)", ""),
        [("close",), ("close",), ("close_with_grace",)],
    ),
}
"""Mistakes that ``test_together`` finds, each with what is done."""
