"""Records that a test gives in the types of Python: as ``masthead.Client`` returns them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from masthead.emulator.values import as_json
from masthead.errors import BadInput

if TYPE_CHECKING:
    from masthead import Client
    from masthead.emulator import MastheadServer

TIME = datetime.fromisoformat("2026-03-01 00:30:15.999999")
IN_NEPAL = timezone(timedelta(hours=5, minutes=45))


def test_what_the_client_returns_is_what_was_added(server: MastheadServer, client: Client) -> None:
    """rules, "The records of the emulator": columns are those of an import."""
    server.add("publications", {"publication_id": 1})
    server.add("subscribers", {"subscriber_id": 1})
    server.add(
        "subscriptions",
        {
            "subscription_id": 1,
            "subscriber_id": 1,
            "publication_id": 1,
            "date_expired": date(2030, 2, 28),
            "unearned_revenue": Decimal("10.50"),
        },
    )
    server.add(
        "orders",
        {
            "order_id": 1,
            "subscriber_id": 1,
            "order_date": TIME.replace(tzinfo=IN_NEPAL),
            "grand_total": Decimal("1E+1"),
        },
    )
    (found,) = client.list_subscriptions()
    assert (found.date_expired, found.unearned_revenue) == (date(2030, 2, 28), Decimal("10.50"))
    order = client.get_order(1)
    assert order.order_date == datetime.fromisoformat("2026-02-28 18:45:15")
    assert order.grand_total == 10
    assert found.date_expired
    server.change(
        "subscriptions",
        {"subscription_id": 1, "date_expired": found.date_expired + timedelta(days=1)},
    )
    server.change("orders", {"order_id": 1, "order_date": order.order_date})
    assert client.get_order(1) == order
    server.change("orders", {"order_id": 1, "order_date": server.clock.now})
    (found,) = client.list_subscriptions()
    assert found.date_expired == date(2030, 3, 1)
    placed = client.get_order(1).order_date
    assert placed
    assert timedelta() <= server.clock.now - placed.replace(tzinfo=UTC) < timedelta(minutes=5)


def value(kind: str, column: str, given: object) -> object:
    """Return what is sent of a column of a record."""
    ((found,),) = (each.values() for each in as_json(kind, [{column: given}]))
    return found


@pytest.mark.parametrize(
    ("kind", "column", "given", "sent"),
    [
        ("subscriptions", "date_expired", date(987, 2, 1), "0987-02-01"),
        ("subscriptions", "date_expired", TIME, "2026-03-01"),
        ("subscriptions", "date_expired", TIME.replace(tzinfo=IN_NEPAL), "2026-02-28"),
        ("subscribers", "delete_date", TIME, "2026-03-01 00:30:15"),
        ("subscribers", "delete_date", TIME.replace(tzinfo=UTC), "2026-03-01 00:30:15"),
        ("subscribers", "delete_date", date(2026, 3, 1), "2026-03-01 00:00:00"),
        ("subscribers", "no_column", TIME, "2026-03-01 00:30:15"),
        ("nothing", "day", date(2026, 3, 1), "2026-03-01"),
        ("orders", "grand_total", Decimal("0.000000010"), "0.000000010"),
        ("orders", "grand_total", Decimal(100).normalize(), "100"),
        ("orders", "grand_total", Decimal("1E+999999"), "1E+999999"),
        ("orders", "grand_total", 10.25, 10.25),
        ("orders", "order_date", None, None),
        ("custom_field_options", "active", False, False),
        ("custom_field_answers", "option_ids", (1, Decimal(2)), [1, "2"]),
    ],
)
def test_a_value_has_the_form_of_its_column(
    kind: str, column: str, given: object, sent: object
) -> None:
    """interface, operation 4: days and times without a zone; docs/testing.md: in UTC."""
    assert value(kind, column, given) == sent


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({1, 2}, "orders, record 2: grand_total: a value of type set: a column takes text, "),
        (b"10", "orders, record 2: grand_total: a value of type bytes"),
        ([1, {"a": 1}], "orders, record 2: grand_total: a value of type dict"),
        (timedelta(1), "orders, record 2: grand_total: a value of type timedelta"),
        (float("nan"), "orders, record 2: grand_total: nan is not a number such as 10.5"),
        (Decimal("-Infinity"), "grand_total: -Infinity is not a number such as 10.5"),
        (datetime.min.replace(tzinfo=IN_NEPAL), "grand_total: this time is none in UTC"),
    ],
)
def test_any_other_value_is_refused_with_its_place(
    server: MastheadServer, given: object, sentence: str
) -> None:
    server.add("subscribers", {"subscriber_id": 1})
    good: dict[str, Any] = {"order_id": 1, "subscriber_id": 1}
    for call in (server.add, server.change):
        with pytest.raises(BadInput) as refused:
            call("orders", good, {"order_id": 2, "subscriber_id": 1, "grand_total": given})
        assert sentence in str(refused.value)
    response = httpx2.get(f"{server.base_url}/2/orders/1", auth=server.credentials)
    assert response.status_code == 404


def test_an_invalid_record_is_refused(server: MastheadServer, client: Client) -> None:
    server.add("subscribers", MappingProxyType({"subscriber_id": 1}))
    (found,) = client.search_subscribers()
    wrong: Any = found
    with pytest.raises(BadInput, match="record 1: a Subscriber, where a dict of its columns is"):
        server.change("subscribers", wrong)
    wrong = {("email",): "a@b.example"}
    with pytest.raises(BadInput, match="record 1: a tuple, where a column's name is needed"):
        server.change("subscribers", wrong)
