"""What a client ought to see: the data as plain rows, and what each record shows of them.

Written without the store and the contract, so that neither judges itself. Of each record only the
columns count that edits change.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st

if TYPE_CHECKING:
    from pathlib import Path

Row = Mapping[str, int | str | None]
Edit = tuple[str, Row]
"""A table, and what a file says of one of its rows."""

Key = tuple[str, tuple[int, ...]]
"""A table, and the key of one of its rows."""

Shown = tuple[Any, ...]


class Files(NamedTuple):
    """What the files of a load say, and the tables of which they have all rows that stay."""

    edits: Sequence[Edit]
    complete: frozenset[str]

    def by_columns(self) -> dict[tuple[str, tuple[str, ...]], list[tuple[int | str | None, ...]]]:
        """Return lines and values of the rows, by their table and columns.

        A complete file may have no row.
        """
        found: dict[tuple[str, tuple[str, ...]], list[tuple[int | str | None, ...]]] = {
            (table, _KEYS[table]): [] for table in self.complete
        }
        for line, (table, row) in enumerate(self.edits):
            found.setdefault((table, tuple(row)), []).append((line, *row.values()))
        return found


ENTITIES = {
    "customfields": "custom_fields",
    "subscriptions": "subscriptions",
    "subscribers": "subscribers",
    "addresses": "addresses",
    "purchases": "purchases",
    "listdownloads": "list_downloads",
    "orders": "orders",
}
"""Each entity's key in a response, by its name in a request."""

_KEYS = {
    "subscribers": ("subscriber_id",),
    "addresses": ("address_id",),
    "subscriptions": ("subscription_id",),
    "custom_fields": ("field_id",),
    "custom_field_options": ("option_id",),
    "custom_field_answers": ("subscriber_id", "field_id"),
    "orders": ("order_id",),
    "order_items": ("order_item_id",),
    "purchases": ("purchase_id",),
    "list_downloads": ("mailing_list_id",),
}
_ADDRESS_IDS = ("mailing_address_id", "billing_address_id")
"""The columns that refer to an address, of any table."""

_COLUMNS = {
    "subscribers": ("last_name", "delete_date", "password_md5"),
    "addresses": ("city",),
    "subscriptions": ("copies",),
    "purchases": ("notes",),
    "list_downloads": ("name",),
}
_WORDS = ("One", "Two", "Three")
_NEW_SUBSCRIBER: Row = {
    "subscriber_id": 20,
    "renewal_code": "FED20",
    "email": "twenty@example.org",
    "password_md5": "0" * 32,
    "first_name": "Twentieth",
}
_ITEMS: list[Row] = [
    {"order_item_id": 1, "order_id": 1, "bundle_id": 5},
    {"order_item_id": 2, "order_id": 2, "product_id": 6},
    {"order_item_id": 3, "order_id": 1, "product_id": 9, "sub_total": "1", "tax_total": "0"},
]
_NEW_FIELD: Row = {"field_id": 3, "name": "size", "type": "text", "allow_other": 0}


def _edit(
    table: str, keys: Sequence[Row], column: str, values: Sequence[Any]
) -> st.SearchStrategy[Edit]:
    return st.builds(
        lambda key, value: (table, {**key, column: value}),
        st.sampled_from(keys),
        st.sampled_from(values),
    )


def _ids(name: str, *ids: int) -> list[Row]:
    return [{name: number} for number in ids]


def _own(name: str, **references: int) -> list[Row]:
    """Return the keys of two records, each a subscriber's, with all that a new one needs.

    So an edit brings back a record that was removed.
    """
    return [{name: number, "subscriber_id": number, **references} for number in (1, 2)]


_DELETIONS = _edit(
    "subscribers", _ids("subscriber_id", 1, 2), "delete_date", [None, "2026-02-03 04:05:06"]
)
EDITS = st.one_of(
    _edit("subscribers", [*_ids("subscriber_id", 1, 2), _NEW_SUBSCRIBER], "last_name", _WORDS),
    _DELETIONS,
    _DELETIONS,
    _edit("addresses", _own("address_id"), "city", _WORDS),
    _edit("subscriptions", _own("subscription_id", publication_id=1), "copies", [1, 2, 3]),
    _edit("custom_fields", [*_ids("field_id", 1, 2), _NEW_FIELD], "display_as", _WORDS),
    _edit("custom_field_options", _ids("option_id", 1, 2), "display_as", _WORDS),
    _edit(
        "custom_field_answers",
        [{"subscriber_id": number, "field_id": 1} for number in (1, 2, 3)],
        "option_ids",
        [None, "1", "2", "1|2"],
    ),
    _edit("orders", _own("order_id"), "grand_total", ["1", "2", "3"]),
    _edit("order_items", _ITEMS, "grand_total", ["1", "2", "3"]),
    _edit("purchases", _own("purchase_id"), "notes", _WORDS),
    _edit("list_downloads", _ids("mailing_list_id", 1, 2), "name", _WORDS),
)
"""One row of a load; a load may say what the database holds already."""

REMOVALS = st.builds(
    lambda table, *key: (table, key[: len(_KEYS[table])]),
    st.sampled_from(
        [
            "orders",
            "purchases",
            "addresses",
            "subscriptions",
            "list_downloads",
            "order_items",
            "subscribers",
            "custom_field_answers",
        ]
    ),
    st.integers(1, 2),
    st.just(1),
)
"""A row that a load removes; there need not be one."""


class Model(NamedTuple):
    """The rows of one account by table and key, and whether digests are hidden."""

    rows: Mapping[Key, Row]
    hides: bool = False

    @classmethod
    def of_files(cls, folder: Path) -> Model:
        """Return what the CSV files of a folder say."""
        found = {}
        for table in _KEYS:
            with (folder / f"{table}.csv").open(encoding="utf-8", newline="") as lines:
                for row in csv.DictReader(lines):
                    found[key_of((table, row))] = row
        return cls(found)

    def files(self, edits: Sequence[Edit], removals: Sequence[Key]) -> Files:
        """Return the files of a load that makes edits, and removes rows that they lack.

        All of them are complete then. They lack items of orders that there would not be. A row
        that stays gives up the address that goes.
        """
        edited = {key_of(edit): edit[1] for edit in edits}
        there = (self.rows.keys() | edited.keys()) - set(removals)
        found: dict[Key, Row] = {}
        others: dict[Key, Row] = {}
        for key in sorted(there):
            table, numbers = key
            row = {**self.rows.get(key, {}), **edited.get(key, {})}
            if table == "order_items" and _order_of(row) not in there:
                continue
            given_up = {
                name: None
                for name in _ADDRESS_IDS
                if row.get(name) and ("addresses", (int(row[name] or 0),)) in removals
            }
            named = dict(zip(_KEYS[table], numbers, strict=True))
            changes = found if given_up or key in edited else others
            changes[key] = {**named, **edited.get(key, {}), **given_up}
        if not removals:
            return Files(_edits_of(found), frozenset())
        complete = frozenset(table for table, _ in (*found, *removals))
        found |= {key: row for key, row in others.items() if key[0] in complete}
        return Files(_edits_of(found), complete)

    def after(self, files: Files, now: str) -> Model:
        """Return the model after a load: what it says, without what complete files lack.

        Such a subscriber gets a ``delete_date``, and loses it when complete files have the row.
        """
        rows = dict(self.rows)
        given = {key_of(edit): edit[1] for edit in files.edits}
        for key, row in given.items():
            rows[key] = {**rows.get(key, {}), **row}
        for key in [key for key in rows if key[0] in files.complete]:
            row, said = rows[key], given.get(key)
            if said is None and key[0] != "subscribers":
                del rows[key]
            elif said is None and not row.get("delete_date"):
                rows[key] = {**row, "delete_date": now, "removed_at": now}
            elif said and "delete_date" not in said and row.get("removed_at"):
                has_changed = row["delete_date"] != row["removed_at"]
                rows[key] = {**row, "delete_date": row["delete_date"] if has_changed else None}
        rows = {
            key: row
            for key, row in rows.items()
            if key[0] != "order_items" or _order_of(row) in rows
        }
        return self._replace(rows=rows)

    def hiding(self, *, hide: bool) -> Model:
        """Return the model with digests hidden, or shown."""
        return self._replace(hides=hide)

    def shown(self, keys: Sequence[str]) -> dict[tuple[str, int], Shown]:
        """Return what records show, by their key in a response and their id."""
        found: dict[tuple[str, int], Shown] = {}
        for (table, (number, *_)), row in self.rows.items():
            if table == "subscribers":
                found["custom_fields", number] = self._answers(number)
                digest = "hidden" if self.hides else "shown"
                found[table, number] = (_text(row, "last_name"), _text(row, "delete_date"), digest)
            elif table in _COLUMNS:
                found[table, number] = tuple(_text(row, name) for name in _COLUMNS[table])
            elif table == "orders":
                found[table, number] = (_text(row, "grand_total"), *self._items(number))
        return {key: value for key, value in found.items() if key[0] in keys}

    def _of(self, table: str) -> list[Row]:
        return [row for (name, _), row in sorted(self.rows.items()) if name == table]

    def _items(self, order_id: int) -> list[str]:
        items = self._of("order_items")
        return [
            _text(row, "grand_total") for row in items if _text(row, "order_id") == str(order_id)
        ]

    def _answers(self, subscriber_id: int) -> Shown:
        shown = []
        for field in self._of("custom_fields"):
            key = (subscriber_id, int(field["field_id"] or 0))
            response = self.rows.get(("custom_field_answers", key), {})
            chosen = _text(response, "option_ids").split("|")
            options = [
                _text(option, "display_as")
                for option in self._of("custom_field_options")
                if _text(option, "option_id") in chosen
            ]
            shown.append((_text(field, "display_as"), *options))
        return tuple(shown)


def key_of(edit: Edit) -> Key:
    """Return the table and the key of a row."""
    table, row = edit
    return table, tuple(int(row[name] or 0) for name in _KEYS[table])


def seen(key: str, record: Mapping[str, Any]) -> Shown:
    """Return what a record of the feed shows, in the form of :meth:`Model.shown`."""
    if key == "custom_fields":
        return tuple(
            (
                field["display_as"],
                *(value["display_as"] for value in field["values"] or ()),
            )
            for field in record["custom_fields"]
        )
    if key == "orders":
        totals = [_text(item, "grand_total") for item in record["order_items"]]
        return (_text(record, "grand_total"), *totals)
    if key == "subscribers":
        digest = "shown" if record["password_md5"] else "hidden"
        return (_text(record, "last_name"), _text(record, "delete_date"), digest)
    return tuple(_text(record, name) for name in _COLUMNS[key])


def _edits_of(rows: Mapping[Key, Row]) -> list[Edit]:
    return [(table, row) for (table, _), row in rows.items()]


def _order_of(item: Row) -> Key:
    return "orders", (int(item["order_id"] or 0),)


def _text(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    return "" if value is None else str(value)
