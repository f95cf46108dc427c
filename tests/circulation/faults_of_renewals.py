"""Ways in which letters and cancelling can be wrong, each of which can be planted (``faults``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.circulation.faults import _sql

if TYPE_CHECKING:
    from tests.circulation.faults import Plant

__all__ = ["FAULTS_OF_RENEWALS"]

FAULTS_OF_RENEWALS: dict[str, Plant] = {
    "a late reader gets an earlier effort": _sql(
        r"SELECT max\(e\.effort\)", "SELECT min(e.effort)"
    ),
    "an earlier effort follows a later one": _sql(r"r\.effort >= f\.effort", "r.effort = f.effort"),
    "letters ignore the campaign": _sql(
        r"AND s\.renew_campaign_active = 1", "", only="present_terms"
    ),
    "grace ignores the campaign": _sql(
        r"AND s\.renew_campaign_active = 1", "", only="last_regular"
    ),
    "readers to whom all was refunded get letters": _sql(
        r"AND t\.ended_at IS NULL", "", only="present_terms"
    ),
    "readers to whom all was refunded get grace": _sql(
        r"SELECT w\.ended_at", "SELECT nullif(w.ended_at, w.ended_at)"
    ),
    "a gift takes the letters of a reader who has paid": _sql(
        r"AND NOT EXISTS \(\s+SELECT 1 FROM terms AS t WHERE t\.account_id = d",
        "AND NOT EXISTS (SELECT 1 FROM terms AS t WHERE FALSE AND t.account_id = d",
    ),
    "the letter of a gift always goes to the reader": _sql(
        r"coalesce\(o\.subscriber_id, b\.subscriber_id\)", "d.subscriber_id"
    ),
}
"""How each is planted, by what is wrong then."""
