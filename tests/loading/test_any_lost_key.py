"""A complete load removes no record of a row that has lost any of its cells."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import event, given
from hypothesis import strategies as st

from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import BadInput
from tests.loading.mapped import load_mapped
from tests.long import SHORT_ON_SQLITE, examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.loading.publisher import Publisher

HEADER = ["Abo", "Kunde", "Mail", "Name", "Titel", "Bis", "Rechnung", "Betrag"]
KEYS = st.fixed_dictionaries(
    {
        "publication_id": st.sampled_from(['{ key = ["Titel"] }', "{ constant = 1 }"]),
        "subscriber_id": st.sampled_from(['{ key = ["Kunde"] }', '"Kunde"']),
        "subscription_id": st.sampled_from(
            ['{ key = ["Abo"] }', '"Abo"', '{ key = ["Kunde", "Titel"] }']
        ),
    }
)
OTHERS = {
    "purchases": """
    [files.tables.purchases]
    purchase_id = "Rechnung"
    subscriber_id = SUBSCRIBER
    total = "Betrag"
    """,
    "addresses": """
    [[files.tables.addresses]]
    address_id = { key = ["Kunde", { constant = "mail" }] }
    subscriber_id = SUBSCRIBER
    city = "Mail"
    [[files.tables.addresses]]
    address_id = { key = ["Kunde", "Titel"], when = ["Name", "Mail"] }
    subscriber_id = SUBSCRIBER
    city = "Name"
    """,
}


def mapping_of(keys: dict[str, str], others: set[str]) -> str:
    mapping = f"""
    [[files]]
    name = "s*"
    ignore = ["*"]
    empty = ["NULL"]
    [files.tables.publications]
    publication_id = {keys["publication_id"]}
    name = {'"Titel"' if "key" in keys["publication_id"] else '{ constant = "Tide" }'}
    [files.tables.subscribers]
    subscriber_id = SUBSCRIBER
    email = "Mail"
    last_name = "Name"
    [files.tables.subscriptions]
    subscription_id = {keys["subscription_id"]}
    subscriber_id = SUBSCRIBER
    publication_id = {keys["publication_id"]}
    date_expired = "Bis"
    {"".join(OTHERS[name] for name in sorted(others))}
    """
    return mapping.replace("SUBSCRIBER", keys["subscriber_id"])


ROWS = st.lists(
    st.tuples(st.integers(1, 3), st.sampled_from(["Tide", "Gale"]), st.booleans()),
    min_size=1,
    max_size=4,
    unique_by=lambda row: row[:2],
)


def written(rows: list[list[str]]) -> str:
    return "".join(f"{','.join(row)}\n" for row in [HEADER, *rows])


@SHORT_ON_SQLITE
@examples(15, 1_000)
@given(
    keys=KEYS,
    others=st.sets(st.sampled_from(sorted(OTHERS))),
    rows=ROWS,
    lost=st.dictionaries(
        st.tuples(st.integers(0, 3), st.integers(0, len(HEADER) - 1)),
        st.sampled_from(["", "", " ", "#REF!", "NULL"]),
        max_size=6,
    ),
)
def test_rows_that_have_lost_cells_keep_their_records(
    new_publisher: Callable[[], Publisher],
    keys: dict[str, str],
    others: set[str],
    rows: list[tuple[int, str, bool]],
    lost: dict[tuple[int, int], str],
) -> None:
    """rules, "Flat rows": the load is refused, or only values of the rows are lost."""
    publisher, mapping = new_publisher(), mapping_of(keys, others)
    night = [
        [
            str(n),
            str(number),
            f"{number}@x.example" if has_mail else "",
            "",
            title,
            "2026-12-31",
            str(n),
            "9.00",
        ]
        for n, (number, title, has_mail) in enumerate(rows, 1)
    ]
    try:
        load_mapped(publisher, {"s.csv": written(night)}, mapping, complete=True)
    except BadInput:  # such as different values of a reader
        return
    before = publisher.everything()
    for (row, column), value in lost.items():
        if row < len(night):
            night[row][column] = value
    folder = Path(tempfile.mkdtemp())
    try:
        load_mapped(
            publisher, {"s.csv": written(night)}, mapping, complete=True, reject=folder / "r"
        )
    except BadInput:
        event("refused")
        assert publisher.everything() == before
        return
    finally:
        shutil.rmtree(folder)
    event("loaded")
    after = publisher.everything()
    del before["addresses"]  # a row may say that there is none
    for table, records in before.items():
        names = TABLES_BY_NAME[table].key
        keys_of = [
            {tuple(row[name] for name in names) for row in rows} for rows in (after[table], records)
        ]
        assert keys_of[0] >= keys_of[1], table
    assert not any(reader["delete_date"] for reader in after["subscribers"])
