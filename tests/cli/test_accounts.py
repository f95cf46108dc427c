"""``masthead accounts``, and ``masthead import accounts.csv``."""

from __future__ import annotations

import csv
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from masthead.contract.records import ACCOUNTS
from masthead.store import open_store
from tests.servers import import_files, masthead

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers import Store


def shown(printed: str) -> dict[str, str]:
    """Return the fields that a command has shown."""
    pairs = (line.partition(": ") for line in printed.splitlines())
    return {name.rstrip(":"): value for name, _, value in pairs}


def show(database: str, account_id: int = 1) -> dict[str, str]:
    return shown(masthead("accounts", "show", account_id, database=database).stdout)


def test_add_shows_the_account_with_random_credentials(database: str) -> None:
    printed = [masthead("accounts", "add", n, database=database).stdout for n in (1, 2)]
    one, two = map(shown, printed)
    assert list(one) == [*(column.name for column in ACCOUNTS.columns), "last_used"]
    assert len({one["api_key"], one["api_login"], two["api_key"], two["api_login"]}) == 4
    assert one["account_id"] == "1"
    assert one["api_active"] == "1"


def test_every_field_of_the_interface_can_be_given_and_is_shown(database: str) -> None:
    given = {
        "company_name": "Harbour Lane 🎈",
        "email": "office@example.org",
        "website": "https://example.org",
        "active": "0",
        "api_active": "0",
        "api_key": "a-key",
        "api_login": "a-login",
        "plan": "Premium",
        "audit_type": "BPA",
        "created": "2024-02-29 10:00:00",
        "master_checkout": "https://example.org/pay",
        "is_master": "1",
        "hide_password_md5": "1",
        "renewal_code_login": "0",
        "time_zone": "America/Argentina/Buenos_Aires",
        "currency": "ARS",
        "keep_password_md5": "1",
    }
    flags = ["--no-active", "--no-api-active", "--master", "--hide-password-md5"]
    flags += ["--keep-password-md5"]
    flags += ["--renewal-code-login", "off"]
    texts = [
        f"--{name.replace('_', '-')}={value}"
        for name, value in given.items()
        if value not in {"0", "1"}
    ]
    masthead("accounts", "add", 1, *texts, *flags, database=database)
    assert show(database) == {"account_id": "1", **given, "last_used": ""}


def test_credentials_are_shown_again_as_often_as_asked(account: str) -> None:
    assert show(account) == show(account)
    assert (show(account)["api_key"], show(account)["api_login"]) == ("key", "login")


def test_set_changes_what_is_named_and_shows_all(account: str) -> None:
    before = show(account)
    done = masthead(
        "accounts", "set", 1, "--no-api-active", "--plan=Standard", "--master", database=account
    )
    expected = {**before, "api_active": "0", "plan": "Standard", "is_master": "1"}
    assert shown(done.stdout) == show(account) == expected
    masthead("accounts", "set", 1, "--api-active", "--no-master", "--plan=", database=account)
    assert show(account) == before


def test_the_digest_of_passwords_can_be_hidden_and_shown(account: str) -> None:
    masthead("accounts", "set", 1, "--hide-password-md5", database=account)
    assert show(account)["hide_password_md5"] == "1"
    masthead("accounts", "set", 1, "--show-password-md5", database=account)
    assert show(account)["hide_password_md5"] == "0"


@pytest.mark.parametrize("name", ["Europe/Berln", "europe/berlin", "", "America", "../UTC"])
def test_a_time_zone_has_a_name_of_iana(account: str, name: str) -> None:
    """rules, "What today is"."""
    done = masthead("accounts", "set", 1, f"--time-zone={name}", database=account, exit_status=2)
    assert f"--time-zone: {name!r} is no time zone; the nearest is '" in done.stderr
    assert show(account)["time_zone"] == "UTC"


@pytest.mark.parametrize("code", ["eur", "EURO", "", "JPY", "KWD"])
def test_a_currency_has_a_code_of_iso_4217_and_two_decimals(account: str, code: str) -> None:
    """decisions, "Currency"."""
    done = masthead("accounts", "set", 1, f"--currency={code}", database=account, exit_status=2)
    assert f"--currency: {code!r} is not the code of a currency with two decimals" in done.stderr
    assert show(account)["currency"] == "USD"


def test_set_without_anything_to_change_is_bad_usage(account: str) -> None:
    done = masthead("accounts", "set", 1, database=account, exit_status=2)
    assert "say what to change" in done.stderr


def test_rotate_credentials_makes_new_credentials_and_shows_them(account: str) -> None:
    rotated = shown(masthead("accounts", "rotate-credentials", 1, database=account).stdout)
    assert rotated["api_key"] != "key"
    assert rotated["api_login"] != "login"
    assert show(account) == rotated


def test_list_names_each_account_and_whether_it_is_open(account: str) -> None:
    masthead("accounts", "add", 30, "--company-name=Tide", "--no-api-active", database=account)
    masthead("accounts", "add", 4, "--no-active", database=account)
    printed = masthead("accounts", "list", database=account).stdout
    assert printed == "1\t\tactive\n4\t\tinactive\n30\tTide\tinactive\n"
    assert "key" not in printed


def test_an_id_that_is_taken_an_unknown_id_and_a_taken_key_are_bad_data(account: str) -> None:
    masthead("accounts", "add", 2, database=account)
    for arguments, sentence in (
        (("add", 1), "account 1 exists already"),
        (("show", 9), "there is no account 9; `masthead accounts list` lists all"),
        (("set", 9, "--plan=x"), "there is no account 9"),
        (("rotate-credentials", 9), "there is no account 9"),
        (("set", 2, "--api-key=key"), "another account has this key"),
    ):
        done = masthead("accounts", *arguments, database=account, exit_status=1)
        assert sentence in done.stderr
        assert done.stdout == ""


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--api-key=a:b", "--api-key: holds a colon, which ends the user name in HTTP Basic"),
        ("--api-key=a\tb", "--api-key: holds a control character, which HTTP Basic cannot carry"),
        ("--api-login=a\x7f", "--api-login: holds a control character, which HTTP Basic cannot"),
    ],
)
def test_credentials_that_http_basic_cannot_carry_are_refused(
    account: str, tmp_path: Path, option: str, sentence: str
) -> None:
    """rules, "Credentials that can be kept"; RFC 7617 section 2."""
    for command in (("add", 2), ("set", 1)):
        done = masthead("accounts", *command, option, database=account, exit_status=2)
        assert sentence in done.stderr
    name, value = option.removeprefix("--").replace("-", "_", 1).split("=")
    path = accounts_file(tmp_path, f'account_id,{name}\n2,"{value}"\n')
    done = masthead("import", path, database=account, exit_status=1)
    assert f"accounts.csv:2: {name}: holds a c" in done.stderr
    assert masthead("accounts", "list", database=account).stdout == "1\t\tactive\n"
    assert (show(account)["api_key"], show(account)["api_login"]) == ("key", "login")


def test_the_swapped_pair_of_another_account_is_bad_data(account: str, tmp_path: Path) -> None:
    """rules, "Credentials that are crosswise"."""
    crosswise = ("--api-key=login", "--api-login=key")
    sentence = "account 1 has this pair the other way round, and a pair opens its account either"
    for command in (("add", 2), ("set", 1)):
        done = masthead("accounts", *command, *crosswise, database=account, exit_status=1)
        assert sentence in done.stderr
    path = accounts_file(tmp_path, "account_id,api_key,api_login\n2,login,key\n")
    assert sentence in masthead("import", path, database=account, exit_status=1).stderr


@pytest.mark.parametrize(
    "same", [["--api-key=key"], ["--api-login=login"], ["--api-key=key", "--api-login=login"]]
)
def test_to_set_what_is_set_already_changes_nothing(account: str, same: list[str]) -> None:
    before = show(account)
    assert shown(masthead("accounts", "set", 1, *same, database=account).stdout) == before


@pytest.mark.parametrize("account_id", ["x", "1.5", "9223372036854775808"])
def test_an_id_beyond_64_bits_is_bad_usage(database: str, account_id: str) -> None:
    masthead("accounts", "add", account_id, database=database, exit_status=2)


def test_a_field_is_checked_as_in_a_file(database: str) -> None:
    done = masthead("accounts", "add", 1, "--created=yesterday", database=database, exit_status=2)
    assert "--created: not a time that exists, written YYYY-MM-DD hh:mm:ss" in done.stderr


def test_text_that_no_store_can_keep_is_refused(database: str) -> None:
    """A byte that is not UTF-8 on the command line."""
    done = masthead("accounts", "add", 1, "--plan=a\udcff", database=database, exit_status=2)
    assert "--plan: is not valid UTF-8" in done.stderr


def test_export_prints_all_accounts_as_a_file_that_changes_nothing(
    account: str, tmp_path: Path
) -> None:
    """The credentials are in it, and those whose API is off too."""
    masthead("accounts", "add", 30, '--company-name=Tide, "T" 😀', "--master", database=account)
    masthead("accounts", "add", 4, "--no-active", "--no-api-active", database=account)
    printed = masthead("accounts", "export", database=account).stdout
    header, *rows = csv.reader(printed.splitlines())
    assert header == [column.name for column in ACCOUNTS.columns]
    assert [row[0] for row in rows] == ["1", "4", "30"]
    for row in csv.DictReader(printed.splitlines()):
        assert {**row, "last_used": ""} == show(account, int(row["account_id"]))
    loaded = import_files(accounts_file(tmp_path, printed), account_id=None, database=account)
    assert "accounts  0 inserted, 0 changed, 3 unchanged" in loaded


def test_a_new_database_gets_all_settings_of_accounts_from_their_file(
    account: str, store: Store, tmp_path: Path
) -> None:
    """rules, "Accounts from a file": what is hidden or closed must not be open there."""
    closed = (
        "--hide-password-md5",
        "--renewal-code-login=off",
        "--time-zone=Europe/Berlin",
        "--currency=EUR",
    )
    masthead("accounts", "set", 1, *closed, database=account)
    file = accounts_file(tmp_path, masthead("accounts", "export", database=account).stdout)
    other = store.new_database("anew")
    import_files(file, account_id=None, database=other)
    assert show(other) == show(account)
    folder = tmp_path / "bad"
    folder.mkdir()
    bad = accounts_file(folder, "account_id,time_zone\n1,Europe/Berlim\n")
    refused = masthead("import", bad, database=other, exit_status=1)
    assert "'Europe/Berlim' is no time zone; the nearest is 'Europe/Berlin'" in refused.stderr


def test_a_file_that_hides_password_md5_changes_every_subscribers_record(
    account: str, tmp_path: Path
) -> None:
    """decisions, "Passwords": as `masthead accounts set` does."""
    (tmp_path / "subscribers.csv").write_text("subscriber_id\n1\n2\n")
    import_files(tmp_path / "subscribers.csv", account_id="1", database=account)
    file = accounts_file(tmp_path, "account_id,hide_password_md5\n1,1\n")
    import_files(file, account_id=None, database=account)
    with closing(open_store(account)) as opened, opened.writer() as database:
        newest = database.rows("SELECT max(commit_id) FROM commits WHERE visible_at IS NOT NULL")
        changed = database.rows("SELECT DISTINCT commit_id FROM subscribers")
    assert changed == newest


def accounts_file(folder: Path, content: str) -> Path:
    path = folder / "accounts.csv"
    path.write_text(content, encoding="utf-8")
    return path


def test_accounts_are_loaded_from_a_file_with_is_master(database: str, tmp_path: Path) -> None:
    path = accounts_file(
        tmp_path,
        "account_id,company_name,active,api_active,api_key,api_login,plan,is_master\n"
        "1,Tide,1,1,key,login,Premium,1\n"
        "2,Harbour,true,0,,,Standard,false\n",
    )
    printed = import_files(path, account_id=None, database=database)
    assert printed == "accounts  2 inserted, 0 changed, 0 unchanged\n"
    one, two = show(database, 1), show(database, 2)
    assert (one["api_key"], one["is_master"], one["plan"]) == ("key", "1", "Premium")
    assert (two["api_active"], two["is_master"]) == ("0", "0")
    assert len(two["api_key"]) >= 32
    printed = import_files(path, account_id=None, database=database)
    assert printed == "accounts  0 inserted, 0 changed, 2 unchanged\nnothing changed\n"


def test_empty_cells_keep_the_credentials(account: str, tmp_path: Path) -> None:
    """The interface shows them empty while the API is off; loading that back must not end them.

    rules, "Accounts from a file".
    """
    path = accounts_file(
        tmp_path, "account_id,company_name,api_active,api_key,api_login\n1,Tide,0,,\n"
    )
    assert "1 changed" in import_files(path, account_id=None, database=account)
    after = show(account)
    assert (after["company_name"], after["api_active"]) == ("Tide", "0")
    assert (after["api_key"], after["api_login"]) == ("key", "login")


def test_a_column_that_the_file_of_accounts_lacks_stays(account: str, tmp_path: Path) -> None:
    before = show(account)
    path = accounts_file(tmp_path, "account_id,plan\n1,Premium\n")
    import_files(path, account_id=None, database=account)
    assert show(account) == {**before, "plan": "Premium"}


def test_a_bad_row_of_accounts_loads_none_of_them(account: str, tmp_path: Path) -> None:
    rows = "".join(f"{n},maybe\n" for n in range(100, 205))
    path = accounts_file(tmp_path, f"account_id,active\n7,1\n7,0\n{rows}")
    done = masthead("import", path, database=account, exit_status=1)
    lines = done.stderr.splitlines()
    assert "accounts.csv:4: active: 'maybe' is neither true (or 1) nor false (or 0)" in lines
    assert any(
        line.startswith("accounts.csv:3: account_id: 7 is in accounts.csv:2") for line in lines
    )
    assert len([line for line in lines if line.startswith("accounts.csv:")]) == 100
    assert "and 6 more problems" in lines
    assert masthead("accounts", "list", database=account).stdout.count("\n") == 1


def test_accounts_have_no_rejects_and_no_account(account: str, tmp_path: Path) -> None:
    """decisions, "Accounts by themselves"."""
    path = accounts_file(tmp_path, "account_id\n7\n")
    done = masthead("import", path, "--reject", tmp_path / "r", database=account, exit_status=2)
    assert "leave out --reject" in done.stderr
