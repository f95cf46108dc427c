"""Operations 1 and 2: whose accounts a caller sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.api.callers import ids

if TYPE_CHECKING:
    from tests.api.conftest import House


def test_an_ordinary_account_lists_itself_alone(house: House) -> None:
    """rules, "/2/accounts/"."""
    for name, account_id in (("golden", 1), ("neighbour", 2), ("empty", 3)):
        accounts = house.caller(name).read("/2/accounts/")["accounts"]
        assert ids(accounts, "account_id") == [account_id]


def test_a_master_account_lists_all_in_order_of_id(gate: House) -> None:
    """rules, "/2/accounts/"; decisions, "Order of lists"."""
    accounts = gate.caller("master").read("/2/accounts/")["accounts"]
    assert ids(accounts, "account_id") == [1, 2, 3, 4, 5, 9223372036854775807]


def test_that_an_account_is_a_master_is_not_on_the_wire(gate: House) -> None:
    """rules, "/2/accounts/": a flag that is not on the wire."""
    assert "master" not in str(
        gate.caller("master").read("/2/accounts/5/")["account"].keys() - {"master_checkout"}
    )


def test_an_account_gets_itself(house: House) -> None:
    """interface, operation 2."""
    assert house.caller("golden").read("/2/accounts/1/")["account"]["company_name"] == "Golden"


@pytest.mark.parametrize("other", ["2", "5", "9223372036854775807"])
def test_another_account_is_answered_as_an_unknown_one(gate: House, other: str) -> None:
    """rules, "Whose data"."""
    caller = gate.caller("garden")
    foreign = caller.refusal(404, f"/2/accounts/{other}/")
    unknown = caller.refusal(404, "/2/accounts/1234567/")
    assert foreign.replace(other, "1234567") == unknown


@pytest.mark.parametrize(
    "path",
    ["01", "1.0", "-1", "+1", "abc", "1e0", "0x1", "9223372036854775808", "%D9%A1", "1%20"],
)
def test_an_id_that_is_not_plain_digits_is_unknown(gate: House, path: str) -> None:
    """rules, "Ids in paths": ``account_id`` too is such a number."""
    caller = gate.caller("garden")
    for place in ("accounts", "orders", "customfields", "downloadmailinglist"):
        for end in ("", "/"):
            response = caller.raw(f"/2/{place}/{path}{end}")
            assert response.status == 404
            assert response.error().startswith("there is no such id: ")


@pytest.mark.parametrize("path", ["/2/accounts/", "/2/accounts/1/"])
def test_operations_without_parameters_refuse_any(gate: House, path: str) -> None:
    """interface, operations 1 and 2: no parameters; decisions, "Unknown parameter"."""
    assert "limit" in gate.caller("garden").refusal(400, path, limit=1)
