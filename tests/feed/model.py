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

__all__ = ["EDITS", "ENTITIES", "Edit", "Model", "key_of", "seen"]

Row = Mapping[str, int | str | None]
Edit = tuple[str, Row]
"""A table, and what a file says of one of its rows."""

Shown = tuple[Any, ...]

ENTITIES = {
    "customfields": "custom_fields",
    "subscriptions": "subscriptions",
    "subscribers": "subscribers",
    "addresses": "addresses",
    "purchases": "purchases",
    "listdownloads": "list_downloads",
    "orders": "orders",
}
"""Each entity's key in an answer, by its name in a request."""

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
_NEW_ITEM: Row = {
    "order_item_id": 3,
    "order_id": 1,
    "product_id": 9,
    "sub_total": "1",
    "tax_total": "0",
}
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


_DELETIONS = _edit(
    "subscribers", _ids("subscriber_id", 1, 2), "delete_date", [None, "2026-02-03 04:05:06"]
)
EDITS = st.one_of(
    _edit("subscribers", [*_ids("subscriber_id", 1, 2), _NEW_SUBSCRIBER], "last_name", _WORDS),
    _DELETIONS,
    _DELETIONS,
    _edit("addresses", _ids("address_id", 1, 2), "city", _WORDS),
    _edit("subscriptions", _ids("subscription_id", 1, 2), "copies", [1, 2, 3]),
    _edit("custom_fields", [*_ids("field_id", 1, 2), _NEW_FIELD], "display_as", _WORDS),
    _edit("custom_field_options", _ids("option_id", 1, 2), "display_as", _WORDS),
    _edit(
        "custom_field_answers",
        [{"subscriber_id": number, "field_id": 1} for number in (1, 2, 3)],
        "option_ids",
        [None, "1", "2", "1|2"],
    ),
    _edit("orders", _ids("order_id", 1, 2), "grand_total", ["1", "2", "3"]),
    _edit("order_items", [*_ids("order_item_id", 1, 2), _NEW_ITEM], "grand_total", ["1", "2", "3"]),
    _edit("purchases", _ids("purchase_id", 1, 2), "notes", _WORDS),
    _edit("list_downloads", _ids("mailing_list_id", 1, 2), "name", _WORDS),
)
"""One row of a load; a load may say what the database holds already."""


class Model(NamedTuple):
    """The rows of one account by table and key, and whether digests are hidden."""

    rows: Mapping[tuple[str, tuple[int, ...]], Row]
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

    def after(self, edits: Sequence[Edit]) -> Model:
        """Return the model after a load."""
        rows = dict(self.rows)
        for table, row in edits:
            key = key_of((table, row))
            rows[key] = {**rows.get(key, {}), **row}
        return self._replace(rows=rows)

    def hiding(self, *, hide: bool) -> Model:
        """Return the model with digests hidden, or shown."""
        return self._replace(hides=hide)

    def shown(self, keys: Sequence[str]) -> dict[tuple[str, int], Shown]:
        """Return what records show, by their key in an answer and their id."""
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
            answer = self.rows.get(("custom_field_answers", key), {})
            chosen = _text(answer, "option_ids").split("|")
            options = [
                _text(option, "display_as")
                for option in self._of("custom_field_options")
                if _text(option, "option_id") in chosen
            ]
            shown.append((_text(field, "display_as"), *options))
        return tuple(shown)


def key_of(edit: Edit) -> tuple[str, tuple[int, ...]]:
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


def _text(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    return "" if value is None else str(value)
