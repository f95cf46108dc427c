"""The document can be used without a manual: texts for everything, and examples that fit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from masthead.contract import examples, guidance
from masthead.contract.meanings import FIELDS, IDS_IN_PATHS, SHAPES
from masthead.contract.openapi import document
from masthead.contract.shapes import fields_of
from masthead.sample_data.demo_history import SAMPLE
from tests.contract.values import problems

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENT = document()
COMPONENTS = DOCUMENT["components"]
OPERATIONS = {item["get"]["operationId"]: item["get"] for item in DOCUMENT["paths"].values()}
SENTENCES_OF_AN_OPERATION_MIN = 3
each_operation = pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
each_schema = pytest.mark.parametrize("name", COMPONENTS["schemas"])


def is_prose(text: str) -> bool:
    """Whether a text is one or more whole sentences."""
    return re.match(r"[A-Z0-9`]", text) is not None and text.rstrip()[-1] in ".:"


def problems_of(schema: dict[str, Any], value: object) -> list[str]:
    """Return what a schema of the document finds wrong with a value."""
    return problems(schema | {"components": COMPONENTS}, value)


def properties() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the name of each schema, the name of each of its properties, and the property."""
    for name, schema in COMPONENTS["schemas"].items():
        for key, described in schema.get("properties", {}).items():
            yield name, key, described


@each_operation
def test_each_operation_says_what_it_does_when_to_use_it_and_what_to_watch_for(
    operation: dict[str, Any],
) -> None:
    """rules, "Texts and examples of the document"."""
    text = operation["description"]
    assert text.count(". ") + text.count(".\n") >= SENTENCES_OF_AN_OPERATION_MIN
    assert "\nUse it " in text
    assert all(is_prose(paragraph) for paragraph in re.split(r"\n\n(?!\* )", text.strip()))


@pytest.mark.parametrize("shape", SHAPES)
def test_each_field_has_its_meaning(shape: type) -> None:
    """rules, "Texts and examples of the document"."""
    assert is_prose(SHAPES[shape])
    for field in fields_of(shape):
        assert is_prose(FIELDS[shape, field.name]), field.name


def test_no_property_of_a_record_lacks_a_description() -> None:
    for name, key, described in properties():
        assert is_prose(described.get("description", " ")), f"{name}.{key}"


@each_operation
def test_each_parameter_has_a_meaning_and_an_example_that_it_allows(
    operation: dict[str, Any],
) -> None:
    for parameter in operation.get("parameters", []):
        assert is_prose(parameter["description"]), parameter["name"]
        assert problems_of(parameter["schema"], parameter["example"]) == []


@each_operation
def test_the_example_of_a_body_is_one_that_the_server_could_send(
    operation: dict[str, Any],
) -> None:
    content = operation["responses"]["200"]["content"]["application/json"]
    assert problems_of(content["schema"], content["example"]) == []
    assert content["example"]


@each_schema
def test_a_record_has_an_example(name: str) -> None:
    schema = COMPONENTS["schemas"][name]
    assert is_prose(schema["description"])
    for example in schema.get("examples", []):
        assert problems_of(schema, example) == []


def test_each_error_is_described_once_with_its_sentence() -> None:
    """rules, "Error body"; interface, "Errors"."""
    assert len(COMPONENTS["responses"]) == len(guidance.ERRORS) == len(examples.ERRORS)
    for response in COMPONENTS["responses"].values():
        content = response["content"]["application/json"]
        assert problems_of(content["schema"], content["example"]) == []
        assert is_prose(response["description"])
        if wait := response["headers"].get("Retry-After"):
            said = re.findall("in ([0-9]+) seconds", content["example"]["error"])
            assert said in ([], [str(wait["example"])])
    for operation in OPERATIONS.values():
        errors = [r for status, r in operation["responses"].items() if status != "200"]
        assert all(list(error) == ["$ref"] for error in errors)


def test_the_example_of_a_body_has_the_entities_of_the_request_in_their_order() -> None:
    for name in ("changes", "snapshot", "deletions", "digest"):
        content = OPERATIONS[name]["responses"]["200"]["content"]["application/json"]
        asked = next(p for p in OPERATIONS[name]["parameters"] if p["name"] == "entities")
        assert ",".join(content["example"]) == asked["example"]


def test_each_explanation_has_its_field_or_operation() -> None:
    """A text whose field or operation was renamed would be lost without a word."""
    assert set(guidance.OPERATIONS) == set(OPERATIONS)
    used = {p["name"] for o in OPERATIONS.values() for p in o.get("parameters", [])}
    assert used == set(examples.PARAMETERS) | set(examples.IDS_IN_PATHS)
    assert set(IDS_IN_PATHS) == set(examples.IDS_IN_PATHS)
    assert set(SHAPES) == set(examples.RECORDS)
    assert {shape.__name__ for shape in SHAPES} <= set(COMPONENTS["schemas"])
    assert {tag["name"] for tag in DOCUMENT["tags"]} == {
        tag for operation in OPERATIONS.values() for tag in operation["tags"]
    }


def test_the_examples_exist_in_the_demo() -> None:
    """rules, "Texts and examples of the document"; "The demo's credentials"."""
    found = SAMPLE
    assert {
        "account_id": "1",
        "subscriber_id": str(found.subscriber_id),
        "order_id": str(found.order_id),
        "mailing_list_id": str(found.mailing_list_id),
    } == examples.IDS_IN_PATHS
    expected = {
        "login": found.email,
        "password": found.password,
        "email": found.email,
        "renewal_code": found.renewal_code,
        "subscriber_id": str(found.subscriber_id),
        "publication_id": str(found.publication_id),
    }
    assert {name: examples.PARAMETERS[name] for name in expected} == expected


def test_the_examples_of_records_are_about_the_same_things() -> None:
    """rules, "Texts and examples of the document"."""
    by_name = {shape.__name__: record for shape, record in examples.RECORDS.items()}

    def values(key: str) -> set[object]:
        found = set()
        for record in by_name.values():
            found |= {value for name, value in record.items() if name == key}
        return found

    for key in ("subscriber_id", "publication_id", "renewal_code", "password_md5", "order_id"):
        assert len(values(key)) == 1, key
    listed = by_name["Subscription"]
    assert by_name["ChangedSubscription"] == {
        "subscription_id": listed["subscription_id"],
        "subscriber_id": by_name["Subscriber"]["subscriber_id"],
        **{k: v for k, v in listed.items() if k not in {"paid_issues_left", "unearned_revenue"}},
    }
    assert by_name["AuthenticatedSubscription"]["issues_left"] == listed["issues"]
    assert listed["mailing_address_id"] == by_name["Address"]["address_id"]
    assert listed["last_purchase_id"] == by_name["Purchase"]["purchase_id"]
    assert float(by_name["Purchase"]["total"]) == by_name["Order"]["grand_total"]
