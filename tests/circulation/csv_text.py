"""The text of a CSV file."""

from __future__ import annotations

import csv
import io


def csv_text(*rows: tuple[object, ...]) -> str:
    """Return rows as CSV, the header first; None is an empty cell."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
