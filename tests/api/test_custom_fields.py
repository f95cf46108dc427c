"""Operations 5 and 6: a subscriber's answers, and the definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.api.callers import Caller
    from tests.api.conftest import Publisher


def test_every_field_has_an_entry_in_order_of_id(golden: Caller) -> None:
    """rules, "Custom field answers"."""
    for subscriber_id in (1, 2, 3, 9223372036854775807):
        entries = golden.read(f"/2/customfields/{subscriber_id}")
        assert [entry["field_id"] for entry in entries] == [
            "1",
            "2",
            "3",
            "4",
            "10",
            "9223372036854775807",
        ]


def test_a_deleted_subscriber_keeps_answering(golden: Caller) -> None:
    """decisions, "Deleted subscribers"."""
    assert len(golden.read("/2/customfields/3")) == 6


@pytest.mark.parametrize("subscriber_id", ["4", "01", "abc", "9223372036854775808", "-1", "1.0"])
def test_an_unknown_subscriber_is_not_found(golden: Caller, subscriber_id: str) -> None:
    """rules, "Custom field answers" and "Ids in paths"."""
    assert golden.refusal(404, f"/2/customfields/{subscriber_id}")


def test_options_are_in_numeric_order_then_by_id(golden: Caller) -> None:
    """rules, "Custom field answers": by ``order``, a position, then ``option_id``."""
    topics = golden.read("/2/customfields/")[0]["value_options"]
    assert [(option["order"], option["option_id"]) for option in topics] == [
        ("1", "13"),
        ("2", "11"),
        ("3", "14"),
        ("3", "15"),
        ("10", "12"),
    ]


def test_a_retired_option_stays_in_the_answers_that_chose_it(golden: Caller) -> None:
    """rules, "Custom field answers"."""
    ponds = next(
        option
        for option in golden.read("/2/customfields/")[0]["value_options"]
        if option["option_id"] == "14"
    )
    assert ponds["active"] is False
    chosen = golden.read("/2/customfields/1")[0]["values"]
    assert "14" in [option["option_id"] for option in chosen]


def test_an_answer_of_other_stands_in_the_text_beside_the_options(golden: Caller) -> None:
    """rules, "Custom field answers": "other" of a field with ``allow_other``."""
    entries = golden.read("/2/customfields/1")
    assert entries[0]["text_value"] == 'Moss "&" lichen 😀'
    assert entries[0]["values"]
    assert entries[5]["text_value"] == "none of these"
    assert entries[5]["values"] is None


def test_an_answer_that_is_withdrawn_leaves_nulls(publisher: Publisher) -> None:
    """rules, "Custom field answers": both null where there is no answer."""
    publisher.load(
        custom_field_answers=[
            {"subscriber_id": 1, "field_id": 1, "option_ids": [], "text_value": ""}
        ]
    )
    entry = publisher.caller.read("/2/customfields/1")[0]
    assert entry["values"] is None
    assert entry["text_value"] is None
