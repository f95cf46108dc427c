"""Complete files: rows that they lack are removed, unless they are suspiciously many.

``masthead.store.removing`` finds and removes the rows.
"""

from collections.abc import Sequence
from decimal import ROUND_UP, Decimal

from masthead.errors import BadInput
from masthead.loading.limits import Limit
from masthead.loading.mapping_files import Input
from masthead.loading.problems import listed
from masthead.store import removing
from masthead.store.removing import Removal
from masthead.store.staging import WITHOUT_KEY_MAX, Staging

_ALL = 100
_TENTH = Decimal("0.1")


def find_missing(staging: Staging, files: Sequence[Input], *, rejects: bool) -> Removal:
    """Return the stored rows that complete files lack, before the staged rows are checked.

    If bad rows are rejected (``rejects``), raises BadInput for rows whose keys cannot be read: they
    could be any of the missing rows.
    """
    if rejects and staging.without_key:
        problems = staging.problems_without_key()
        rows = "these rows"
        if len(staging.without_key) == WITHOUT_KEY_MAX:
            rows = "these rows, and perhaps of others,"
        advice = (
            f"the keys of {rows} cannot be read, so it is unknown which rows the files lack; "
            "correct them, or load the files without removing rows"
        )
        raise BadInput(listed(files, problems, len(problems), advice), code="unreadable_key")
    removing.restore_returned(staging)
    return removing.missing_from_files(staging)


def check_brake(removal: Removal, max_removed: Limit) -> None:
    """Raise BadInput if a table would lose more rows than ``max_removed`` allows.

    Its message counts the rows that each table would lose (rules, "What complete files are").
    """
    missing = removal.missing
    if all(max_removed.allows(*found) for found in missing.values()):
        return
    shares = {name: _percent(*found) for name, found in missing.items()}
    lines = [
        f"{name}: {found.rows} of {found.stored} rows would be removed ({shares[name]:f}%)"
        for name, found in missing.items()
    ]
    needed = f"{max(shares.values()):f}%"
    advice = (
        f"nothing was loaded: the limit is {max_removed.text} of a table; if these rows are to go, "
        f"allow {needed}"
    )
    raise BadInput("\n".join([*lines, advice]), code="too_many_removed", share=needed)


def _percent(rows: int, of_rows: int) -> Decimal:
    """Return ``rows`` as a percentage of ``of_rows``, rounded up."""
    return (Decimal(rows * _ALL) / of_rows).quantize(_TENTH, ROUND_UP)
