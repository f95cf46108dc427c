"""Golden answers of operations 1 and 2, typed by hand from the interface's Account table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.api.conftest import EVERY_SERVER

if TYPE_CHECKING:
    from tests.api.conftest import House

pytestmark = EVERY_SERVER

FULL = (
    '{"account_id":"1","company_name":"Garden Press","email":"office@garden.example",'
    '"website":"https://garden.example","active":true,"api_active":"1","api_key":"key-garden",'
    '"api_login":"login-garden","plan":"Premium","audit_type":null,'
    '"created":"2024-02-29 23:59:59","master_checkout":"https://pay.garden.example/checkout"}'
)
AWKWARD = (
    '{"account_id":"2","company_name":"Zoë & \\"Söhne\\" \\\\ 😀 </script>",'
    '"email":"ö@awkward.example","website":"https://awkward.example/?a=1&b=2","active":true,'
    '"api_active":"1","api_key":"key-awkward","api_login":"login-awkward","plan":"Standard",'
    '"audit_type":"ABC","created":"2023-01-01 00:00:00",'
    '"master_checkout":"https://pay.awkward.example/#x"}'
)
CLOSED = (
    '{"account_id":"3","company_name":"Closed Gate","email":"gate@closed.example","website":"",'
    '"active":true,"api_active":"0","api_key":"","api_login":"","plan":"Standard",'
    '"audit_type":null,"created":"2022-06-01 08:30:00","master_checkout":""}'
)
ASLEEP = (
    '{"account_id":"4","company_name":"Asleep","email":"","website":"","active":false,'
    '"api_active":"1","api_key":"key-asleep","api_login":"login-asleep","plan":"Standard",'
    '"audit_type":null,"created":"2021-06-01 08:30:00","master_checkout":""}'
)
MASTER = (
    '{"account_id":"5","company_name":"Reseller","email":"hello@reseller.example",'
    '"website":"https://reseller.example","active":true,"api_active":"1",'
    '"api_key":"key-master","api_login":"login-master","plan":"Enterprise","audit_type":null,'
    '"created":"2020-12-31 12:00:00","master_checkout":""}'
)
LAST = (
    '{"account_id":"9223372036854775807","company_name":"Last of All",'
    '"email":"last@all.example","website":"","active":true,"api_active":"1",'
    '"api_key":"key-last","api_login":"login-last","plan":"Standard","audit_type":null,'
    '"created":"2019-01-01 00:00:01","master_checkout":""}'
)
SPARSE = (
    '{"account_id":"20","company_name":"","email":"","website":"","active":false,'
    '"api_active":"0","api_key":"","api_login":"","plan":"","audit_type":null,'
    '"created":"2024-02-29 00:00:00","master_checkout":""}'
)


def test_a_list_of_one_account(gate: House, served_by: str) -> None:
    """interface, operation 1."""
    assert gate.caller("garden", served_by).answer("/2/accounts/") == f'{{"accounts":[{FULL}]}}'


def test_a_list_of_all_accounts_in_order_of_id(gate: House, served_by: str) -> None:
    """interface, operation 1; rules, "/2/accounts/" and "api_key, api_login"."""
    records = f"{FULL},{AWKWARD},{CLOSED},{ASLEEP},{MASTER},{LAST}"
    assert gate.caller("master", served_by).answer("/2/accounts/") == f'{{"accounts":[{records}]}}'


def test_one_full_account(gate: House, served_by: str) -> None:
    """interface, operation 2."""
    assert gate.caller("garden", served_by).answer("/2/accounts/1/") == f'{{"account":{FULL}}}'


def test_one_awkward_account(gate: House, served_by: str) -> None:
    """interface, operation 2; rules, "Content": UTF-8 not escaped."""
    assert gate.caller("awkward", served_by).answer("/2/accounts/2/") == f'{{"account":{AWKWARD}}}'


def test_the_account_with_the_largest_id(gate: House, served_by: str) -> None:
    """rules, "Ids in paths": up to 2^63 - 1."""
    answer = gate.caller("last", served_by).answer("/2/accounts/9223372036854775807/")
    assert answer == f'{{"account":{LAST}}}'


def test_an_account_of_which_only_the_id_and_the_day_are_known(
    house: House, served_by: str
) -> None:
    """rules, "Missing values" and "Missing Bool, flag, verified, Double"."""
    house.must_have_loaded("sparse account")
    answer = house.caller("overseer", served_by).answer("/2/accounts/")
    (record,) = (
        record for record in json.loads(answer)["accounts"] if record["account_id"] == "20"
    )
    assert record == json.loads(SPARSE)
    assert SPARSE in answer
