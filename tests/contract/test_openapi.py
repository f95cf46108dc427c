"""The OpenAPI document: valid, complete, and exact about what a response may and may not be.

The responses that it is held against are typed by hand; ``tests/api`` holds it against a server.
"""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from masthead.contract.openapi import document
from masthead.contract.operations import ENTITIES, OPERATIONS, Operation
from tests.contract.values import problems

DOCUMENT = document()
PATHS = DOCUMENT["paths"]
each_operation = pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)

SUBSCRIPTION = {
    "subscription_id": "31",
    "publication_id": "11",
    "mailing_address_id": "21",
    "billing_address_id": "",
    "issues": "-1",
    "copies": "1",
    "paid_issues_left": None,
    "unearned_revenue": "10.50",
    "type": "Print",
    "date_created": "",
    "date_expired": "2099-12-31",
    "date_last_renewed": None,
    "last_purchase_bundle_id": None,
    "last_purchase_id": "61",
    "renew_campaign_active": True,
    "audit_classification": None,
    "audit_request_type": "W",
}
ACCOUNT = {
    "account_id": "1",
    "company_name": "Golden",
    "email": "",
    "website": "https://golden.example",
    "active": True,
    "api_active": "0",
    "api_key": "",
    "api_login": "",
    "plan": "Premium",
    "audit_type": None,
    "created": "2024-02-29 23:59:59",
    "master_checkout": "",
}
SUBSCRIBER = {
    "subscriber_id": "9223372036854775807",
    "renewal_code": "GF001",
    "email": "mira.lang@example.org",
    "password_md5": "5ebe2294ecd0e0f08eab7690d2a6ee69",
    "first_name": "Mira",
    "last_name": "Lang",
    "source": None,
    "delete_date": None,
}
RECOGNISED = {
    "authenticated": True,
    "subscribers": {
        "subscriber_id": "1",
        "renewal_code": "GF001",
        "email": "mira.lang@example.org",
        "first_name": "Mira",
        "last_name": "Lang",
        "subscriptions": [
            {
                "subscription_id": "31",
                "date_created": "",
                "date_expired": None,
                "publication_id": "11",
                "issues_left": "-1",
                "type": "",
                "issues": [{"issue_id": "9", "name": "Spring", "date": "2024-02-29"}],
            }
        ],
    },
}
ANSWER = {
    "field_id": "1",
    "name": "topics",
    "display_as": "Topics",
    "type": "checkbox",
    "allow_other": 1,
    "values": [{"option_id": "3", "display_as": "Roses", "value": ""}],
    "text_value": None,
}
DEFINITION = {
    "field_id": "1",
    "name": "topics",
    "display_as": "Topics",
    "type": "textarea",
    "allow_other": 0,
    "value_options": [
        {
            "option_id": "3",
            "value": "",
            "display_as": "Roses",
            "disqualifier": False,
            "active": True,
            "order": "1",
        }
    ],
}
ORDER = {
    "order_id": "71",
    "mailing_address_id": "21",
    "billing_address_id": "22",
    "subscriber_id": "1",
    "import_name": None,
    "user_id": "5",
    "channel_id": None,
    "order_date": "2024-02-29 23:59:59",
    "is_gift": False,
    "sub_total": 0.3,
    "tax_total": 0,
    "grand_total": 85,
    "order_items": [
        {
            "order_item_id": "711",
            "bundle_id": "501",
            "refund_date": None,
            "fulfilled_date": "2024-03-01 08:00:00",
            "sub_total": 0.1,
            "tax_total": 0.01,
            "grand_total": 0.11,
        }
    ],
}
ENTRY = {
    "subscription_id": "31",
    "copies": "2",
    "is_grace": "0",
    "is_paid": "1",
    "type": "Both",
}
PURCHASE = {
    "purchase_id": "61",
    "payment_type": "Credit Card",
    "notes": "",
    "subscriber_id": "1",
    "bundle_id": "501",
    "shipping_address_id": None,
    "billing_address_id": "22",
    "name": None,
    "invoice_id": "INV-1",
    "total": "10.50",
    "product_total": None,
    "is_gift": "1",
}
FEED = {
    "purchases": [PURCHASE],
    "orders": [ORDER],
    "subscribers": [SUBSCRIBER | {"modified_date": "2024-02-29 23:59:59"}],
    "custom_fields": [{"subscriber_id": "1", "custom_fields": [ANSWER]}],
}
ANSWERS: dict[str, Any] = {
    "list_accounts": {"accounts": [ACCOUNT]},
    "get_account": {"account": ACCOUNT},
    "authenticate_subscriber": RECOGNISED,
    "changes": FEED,
    "get_custom_field_answers": [ANSWER],
    "list_custom_fields": [DEFINITION],
    "list_subscriptions": {"subscriptions": [SUBSCRIPTION]},
    "search_subscribers": {"subscribers": [SUBSCRIBER]},
    "get_order": ORDER,
    "download_mailing_list": [ENTRY],
}


def described(name: str) -> dict[str, Any]:
    """Return the description of an operation."""
    found: dict[str, Any] = PATHS[OPERATIONS[name].path]["get"]
    return found


def problems_of(name: str, answer: object) -> list[str]:
    """Return what the description finds wrong with a response of 200."""
    schema = described(name)["responses"]["200"]["content"]["application/json"]["schema"]
    return problems(schema | {"components": DOCUMENT["components"]}, answer)


def test_an_independent_validator_accepts_the_document() -> None:
    assert DOCUMENT["openapi"] == "3.1.0"
    assert list(OpenAPIV31SpecValidator(DOCUMENT).iter_errors()) == []


def test_each_document_is_a_new_one() -> None:
    changed = document()
    changed["paths"].clear()
    assert document() == DOCUMENT


def test_all_ten_operations_and_the_extensions_are_described() -> None:
    beside = ["/snapshot", "/deletions", "/digest", "/entitlements", "/health"]
    assert list(PATHS) == [operation.path for operation in OPERATIONS.values()] + beside
    assert len(PATHS) == 10 + len(beside)
    assert all(list(item) == ["get"] for item in PATHS.values())


@each_operation
def test_each_parameter_is_described(operation: Operation) -> None:
    parameters = described(operation.name)["parameters"]
    in_path = re.findall(r"{(\w+)}", operation.path)
    assert [(p["name"], p["in"], p["required"]) for p in parameters] == [
        *((name, "path", True) for name in in_path),
        *((p.name, "query", p.required) for p in operation.parameters),
    ]
    assert all(p["description"] for p in parameters if p["in"] == "query")


def test_the_entities_are_described_as_words_separated_by_commas() -> None:
    """Not as an array: a client that is generated would send the parameter once for each item."""
    _, entities = described("changes")["parameters"]
    for entity in ENTITIES:
        assert problems(entities["schema"], entity.name) == []
    assert problems(entities["schema"], ",".join(entity.name for entity in ENTITIES)) == []
    for wrong in ("", "orders,", ",orders", "order", "orders;addresses", ["orders"]):
        assert problems(entities["schema"], wrong) != []


@each_operation
def test_each_error_is_described(operation: Operation) -> None:
    """rules, "Statuses"."""
    expected = {"200", "400", "401", "403", "408", "413", "414", "417"}
    expected |= {"429", "431", "500", "503"}
    expected |= {"404"} if "{" in operation.path else set()
    expected |= {"410"} if operation.name == "changes" else set()
    assert set(described(operation.name)["responses"]) == expected


@pytest.mark.parametrize("name", DOCUMENT["components"]["responses"])
def test_an_error_is_one_sentence(name: str) -> None:
    """rules, "Error body"."""
    response = DOCUMENT["components"]["responses"][name]
    described = response["content"]["application/json"]["schema"]
    schema = described | {"components": DOCUMENT["components"]}
    assert problems(schema, {"error": "{changed_since} is a required field"}) == []
    for wrong in ({}, {"error": ""}, {"error": None}, {"error": "No.", "code": 1}, "No."):
        assert problems(schema, wrong) != []


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("Unauthorized", "WWW-Authenticate"),
        ("TooManyRequests", "Retry-After"),
        ("Unavailable", "Retry-After"),
    ],
)
def test_an_error_has_its_header(name: str, header: str) -> None:
    """rules, "Statuses" and "Missing or malformed credentials"."""
    assert DOCUMENT["components"]["responses"][name]["headers"][header]["required"] is True


@each_operation
def test_each_header_of_a_response_is_described(operation: Operation) -> None:
    """decisions, "Order of lists"; rules, "Personal data", "Change feed", "Download"."""
    extra = {
        "list_subscriptions": {"Link"},
        "search_subscribers": {"Link"},
        "changes": {"Masthead-Changes-Through"},
        "download_mailing_list": {"Content-Disposition"},
    }
    headers = described(operation.name)["responses"]["200"]["headers"]
    assert set(headers) == {"Cache-Control"} | extra.get(operation.name, set())


def test_only_the_health_check_needs_no_credentials() -> None:
    """decisions, "How credentials travel"."""
    assert DOCUMENT["security"] == [{"credentials": []}]
    assert DOCUMENT["components"]["securitySchemes"]["credentials"]["scheme"] == "basic"
    open_paths = [path for path, item in PATHS.items() if item["get"].get("security") == []]
    assert open_paths == ["/health"]


@pytest.mark.parametrize("name", ANSWERS)
def test_a_response_as_the_interface_shows_it_is_accepted(name: str) -> None:
    assert problems_of(name, ANSWERS[name]) == []


@pytest.mark.parametrize("name", ANSWERS)
def test_properties_stand_in_the_order_of_the_wire(name: str) -> None:
    """interface, "Resources and their fields"."""

    def in_document_order(value: object) -> None:
        if isinstance(value, dict):
            schemas = DOCUMENT["components"]["schemas"].values()
            orders = [list(schema.get("properties", {})) for schema in schemas]
            if name != "changes" or value is not ANSWERS[name]:
                keys = list(value)
                assert len(keys) < 3 or any(keys == [k for k in o if k in keys] for o in orders)
            for nested in value.values():
                in_document_order(nested)
        elif isinstance(value, list):
            for nested in value:
                in_document_order(nested)

    in_document_order(ANSWERS[name])


@pytest.mark.parametrize("name", ANSWERS)
def test_every_key_must_be_there_and_no_other(name: str) -> None:
    """rules, "Missing values": every key is always there."""
    for path in objects_in(ANSWERS[name]):
        with_another = copy.deepcopy(ANSWERS[name])
        at(with_another, path)["another"] = "1"
        assert problems_of(name, with_another) != []
        for key in at(ANSWERS[name], path):
            if name == "changes" and not path:
                continue  # its keys are those that were asked for
            without = copy.deepcopy(ANSWERS[name])
            del at(without, path)[key]
            assert problems_of(name, without) != [], f"{key} is not required"


@pytest.mark.parametrize("name", ANSWERS)
def test_no_value_may_be_of_another_json_type(name: str) -> None:
    """decisions, "Integers"; rules, "Bool", "Double"."""
    others: tuple[Any, ...] = ("x", 7, True, [1], {})
    for path in objects_in(ANSWERS[name]):
        for key, value in at(ANSWERS[name], path).items():
            for other in others:
                nullable_text = value is None and isinstance(other, str)
                if json_type(other) == json_type(value) or nullable_text:
                    continue
                changed = copy.deepcopy(ANSWERS[name])
                at(changed, path)[key] = other
                assert problems_of(name, changed) != [], f"{key} may be {other!r}"


def objects_in(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the path of each object in a JSON value."""
    if isinstance(value, dict):
        nested = [objects_in(member, (*path, key)) for key, member in value.items()]
        return [path, *(found for paths in nested for found in paths)]
    if isinstance(value, list):
        return [found for i, member in enumerate(value) for found in objects_in(member, (*path, i))]
    return []


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    """Return what stands at a path."""
    for step in path:
        value = value[step]
    return value


def json_type(value: object) -> str:
    """Return the JSON type of a value."""
    return json.dumps(value)[0].translate(str.maketrans("0123456789-f", "nnnnnnnnnnnt"))


@pytest.mark.parametrize(
    ("name", "path", "wrong"),
    [
        ("list_subscriptions", ("subscriptions", 0, "subscription_id"), ""),
        ("list_subscriptions", ("subscriptions", 0, "subscription_id"), "-1"),
        ("list_subscriptions", ("subscriptions", 0, "subscription_id"), "007"),
        ("list_subscriptions", ("subscriptions", 0, "issues"), None),
        ("list_subscriptions", ("subscriptions", 0, "issues"), "1.5"),
        ("list_subscriptions", ("subscriptions", 0, "type"), "print"),
        ("list_subscriptions", ("subscriptions", 0, "type"), None),
        ("list_subscriptions", ("subscriptions", 0, "date_expired"), ""),
        ("list_subscriptions", ("subscriptions", 0, "date_expired"), "2024-13-01"),
        ("list_subscriptions", ("subscriptions", 0, "unearned_revenue"), ""),
        ("list_subscriptions", ("subscriptions",), None),
        ("search_subscribers", ("subscribers", 0, "renewal_code"), "123456"),
        ("search_subscribers", ("subscribers", 0, "email"), "e" * 51),
        ("search_subscribers", ("subscribers", 0, "email"), None),
        ("search_subscribers", ("subscribers", 0, "password_md5"), "secret"),
        ("search_subscribers", ("subscribers", 0, "source"), 1),
        ("get_account", ("account", "api_active"), "2"),
        ("get_account", ("account", "api_active"), True),
        ("get_account", ("account", "created"), "2024-02-29"),
        ("get_custom_field_answers", (0, "allow_other"), 2),
        ("get_custom_field_answers", (0, "type"), "number"),
        ("get_custom_field_answers", (0, "values"), ""),
        ("list_custom_fields", (0, "value_options"), None),
        ("list_custom_fields", (0, "name"), "n" * 256),
        ("get_order", ("order_items",), None),
        ("get_order", ("sub_total",), None),
        ("get_order", ("import_name",), "i" * 31),
        ("authenticate_subscriber", ("subscribers",), []),
        ("authenticate_subscriber", ("authenticated",), False),
        ("changes", ("purchases",), None),
        ("changes", ("purchases", 0, "total"), 10.5),
    ],
)
def test_a_value_that_the_wire_never_shows_is_refused(
    name: str, path: tuple[str | int, ...], wrong: object
) -> None:
    """interface, "Resources and their fields"; rules, "Missing values" and all wire types."""
    answer = copy.deepcopy(ANSWERS[name])
    at(answer, path[:-1])[path[-1]] = wrong
    assert problems_of(name, answer) != []


def test_a_login_that_does_not_fit_has_no_other_members() -> None:
    """interface, operation 3."""
    assert problems_of("authenticate_subscriber", {"authenticated": False}) == []
    assert problems_of("authenticate_subscriber", {"authenticated": True}) != []


def test_an_order_item_is_a_bundle_or_a_product() -> None:
    """interface, Order item."""
    order = copy.deepcopy(ORDER)
    item: dict[str, Any] = at(order, ("order_items", 0))
    item["product_id"] = "601"
    assert problems_of("get_order", order) != []
    del item["bundle_id"]
    assert problems_of("get_order", order) == []
    del item["product_id"]
    assert problems_of("get_order", order) != []


def test_the_feed_holds_what_was_asked_for() -> None:
    """rules, "Change feed"."""
    assert problems_of("changes", {entity.key: [] for entity in ENTITIES}) == []
    assert problems_of("changes", {"addresses": []}) == []
    assert problems_of("changes", {}) != []
    assert problems_of("changes", {"listdownloads": []}) != []
