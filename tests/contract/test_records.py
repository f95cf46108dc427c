"""The tables of an account's data: keys, references, and that they hold what the wire shows."""

from __future__ import annotations

import pytest

from masthead.contract import shapes
from masthead.contract.records import ACCOUNTS, TABLES, TABLES_BY_NAME, Table
from masthead.contract.shapes import fields_of

each_table = pytest.mark.parametrize("table", [*TABLES, ACCOUNTS], ids=lambda table: table.name)

SHOWN_AS = (
    ("accounts", shapes.Account),
    ("subscribers", shapes.Subscriber),
    ("subscribers", shapes.AuthenticatedSubscriber),
    ("subscribers", shapes.ChangedSubscriber),
    ("subscriptions", shapes.Subscription),
    ("subscriptions", shapes.ChangedSubscription),
    ("issues", shapes.ReceivedIssue),
    ("addresses", shapes.Address),
    ("custom_fields", shapes.CustomFieldDefinition),
    ("custom_fields", shapes.CustomFieldAnswer),
    ("custom_field_options", shapes.CustomFieldOption),
    ("custom_field_options", shapes.AnswerValue),
    ("orders", shapes.Order),
    ("order_items", shapes.OrderItem),
    ("purchases", shapes.Purchase),
    ("list_downloads", shapes.ListDownload),
    ("mailing_list_entries", shapes.MailingListEntry),
)
NOT_STORED_THERE = {
    "modified_date",  # the time of the commit
    "subscriptions",  # nested, of the table of that name
    "order_items",
    "value_options",
    "values",  # of custom_field_answers
    "text_value",
}


@each_table
def test_a_table_s_key_comes_first_and_is_never_missing(table: Table) -> None:
    """The columns, key first."""
    assert tuple(column.name for column in table.columns[: len(table.key)]) == table.key
    assert all(c.missing.value == "never" for c in table.columns if c.name in table.key)
    assert len({column.name for column in table.columns}) == len(table.columns)


def test_a_table_refers_to_tables_before_it_that_have_a_key_of_one_column() -> None:
    known: list[str] = []
    for table in TABLES:
        known.append(table.name)
        for column, other in table.references.items():
            assert column in [c.name for c in table.columns]
            assert other in known
            assert len(TABLES_BY_NAME[other].key) == 1


@pytest.mark.parametrize(
    ("name", "shape"), SHOWN_AS, ids=lambda value: getattr(value, "__name__", value)
)
def test_what_the_wire_shows_is_stored_as_the_same_kind(name: str, shape: type) -> None:
    table = ACCOUNTS if name == "accounts" else TABLES_BY_NAME[name]
    stored = {column.name: column for column in table.columns}
    for field in fields_of(shape):
        if field.name not in NOT_STORED_THERE:
            column = stored[field.name]
            assert type(column.kind) is type(field.kind)
            assert column.kind.schema() == field.kind.schema()
            assert column.missing is field.missing
