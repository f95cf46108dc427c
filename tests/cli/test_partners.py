"""``masthead partners``."""

from __future__ import annotations

import re
from contextlib import closing

import pytest

from masthead.store import find_store
from masthead.store.credentials import account_for_credentials
from tests.servers import masthead

ACCOUNT = "--account=1"


def partners(database: str, *words: object) -> str:
    return masthead("partners", *words, ACCOUNT, database=database).stdout


def pair_in(printed: str) -> tuple[str, str]:
    found = re.fullmatch(
        r"(?:partner '.*' of account 1 was added\n)?"
        r"api_key: (\w{40})\napi_login: (\w{40})\nThese credentials are not shown again\.\n",
        printed,
    )
    assert found
    return found[1], found[2]


def opens(database: str, pair: tuple[str, str]) -> bool:
    store = find_store(database)
    store.open()
    with closing(store), store.reader() as connection:
        return account_for_credentials(connection, *pair, now=connection.now()) is not None


def test_a_pair_is_printed_once_and_ends_with_its_partner(account: str) -> None:
    """decisions, "Partners of an account"."""
    first = pair_in(partners(account, "add", "Web shop"))
    second = pair_in(partners(account, "rotate", "web shop"))
    assert [opens(account, pair) for pair in (first, second)] == [False, True]
    third = pair_in(partners(account, "rotate", "Web shop", "--overlap=1h"))
    assert [opens(account, pair) for pair in (second, third)] == [True, True]
    shown = partners(account, "list") + masthead("audit", database=account).stdout
    shown += masthead("accounts", "show", 1, database=account).stdout
    assert not any(secret in shown for secret in (*first, *second, *third))
    assert re.fullmatch(
        r"Web shop\tall operations\tnever used\tearlier credentials end [-0-9]{10} [0-9:]{8}\n",
        partners(account, "list"),
    )
    said = partners(account, "remove", "Web shop")
    assert said == "partner 'Web shop' was removed, and its credentials open nothing\n"
    assert [opens(account, pair) for pair in (second, third)] == [False, False]
    assert partners(account, "list") == "no partners: `masthead partners add` adds one\n"


def test_rights_and_rates_are_changed_one_by_one(account: str) -> None:
    partners(account, "add", "Shop", "--operations=get_order, changes", "--rate=5")
    listed = "Shop\tchanges and get_order; at most 5 a second\tnever used\n"
    assert partners(account, "list") == listed
    said = partners(account, "set", "shop", "--rate=0")
    assert said == "partner 'Shop' may do this: changes and get_order\n"
    said = partners(account, "set", "shop", "--rate=9")
    assert said == "partner 'Shop' may do this: changes and get_order; at most 9 a second\n"
    said = partners(account, "set", "shop", "--operations=all")
    assert said == "partner 'Shop' may do this: all operations; at most 9 a second\n"


@pytest.mark.parametrize(
    ("words", "exit_status", "said"),
    [
        (("set", "Shop"), 2, "say what to change: --operations or --rate"),
        (("set", "Other", "--rate=1"), 1, "no partner 'Other'; `masthead partners list` lists all"),
        (("add", "SHOP"), 1, "there is a partner 'SHOP' already"),
        (("add", "New", "--operations=orders"), 1, "'orders' is no operation"),
        (("requests", "--day=soon"), 2, "'soon' is no day: it is today, yesterday or a date"),
    ],
)
def test_what_cannot_be_is_refused(
    account: str, words: tuple[str, ...], exit_status: int, said: str
) -> None:
    partners(account, "add", "Shop")
    done = masthead("partners", *words, ACCOUNT, database=account, exit_status=exit_status)
    assert said in done.stderr


def test_a_day_without_requests_is_said(account: str) -> None:
    said = partners(account, "requests", "--day=2026-11-28")
    assert said == "no partner asked for anything on 2026-11-28 (UTC)\n"


def test_another_secret_key_names_the_partners_whose_pairs_ended(
    account: str, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """decisions, "Partners of an account": only hashes of their pairs are stored."""
    partners(account, "add", "Shop")
    monkeypatch.setenv("MASTHEAD_SECRET_KEY", "ab" * 32)
    said = masthead("accounts", "rekey", "--lost", database=account).stdout
    assert said == (
        "1 account has new credentials\n"
        "the credentials of 1 partner have ended: `masthead partners rotate` gives new ones\n"
    )
    assert "no credentials: `masthead partners rotate` gives some" in partners(account, "list")
