"""Ways in which free titles can be served or counted wrong, each of which can be planted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.store.books import audit_figures
from tests.circulation.faults import _call, _sql

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
        r"AND x\.audit_class_id = (\s*CASE WHEN q)", r"AND x.audit_class_id >= \1"
    ),
    "a gap list exceeds a quota": _sql(
        r"e\.qualification_id IS NOT NULL\s+AND :main_list IN", "FALSE AND :main_list IN"
    ),
    "an answer changes an old report": _sql(
        r"CASE WHEN q\.qualification_id = e\.qualification_id", "CASE WHEN TRUE"
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
