"""``masthead erase``, ``subscriber-data`` and ``audit``, beside a running server."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from masthead.store.subscriber_data import COLLECTING
from tests.api.conftest import DATA
from tests.loading.person import DIGEST, NUMBER, PERSON, WORD
from tests.servers import MASTHEAD, environment, import_files, masthead, run, serving

if TYPE_CHECKING:
    from pathlib import Path

FIND = "`masthead subscriber find` finds one by name or email"
WHOM = ("--account=1", "--subscriber=1")
ENTITIES = "customfields,subscriptions,subscribers,addresses,purchases,listdownloads,orders"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The publisher's nightly files."""
    folder = tmp_path / "night"
    folder.mkdir()
    for name, content in PERSON.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder


@pytest.fixture
def person(account: str, files: Path) -> str:
    """A database whose account 1 has a subscriber 1 with a value in each personal column."""
    import_files(files, account_id="1", database=account)
    return account


def ask(url: str, path: str) -> Any:
    answer = httpx2.get(url + path, auth=("key", "login"))
    assert answer.status_code == 200, answer.text
    return answer.json()


def records(database: str, *options: str) -> list[dict[str, Any]]:
    """Return what `masthead audit` prints."""
    printed = masthead("audit", "--format=json", *options, database=database).stdout
    return [json.loads(line) for line in printed.splitlines()]


def test_an_erased_person_is_in_no_answer_and_comes_back_with_no_file(
    person: str, files: Path
) -> None:
    """decisions, "Personal data: erasing"; rules, "Personal data: later loads"."""
    snapshot = f"/snapshot?entities={ENTITIES}"
    with serving(person) as server:
        assert WORD in str(ask(server.url, snapshot))
        said = masthead("erase", *WHOM, "--yes", "--earn", database=person).stdout
        assert said.splitlines() == [
            "subscribers           1 blanked",
            "addresses             1 blanked",
            "custom_field_answers  2 blanked",
            "orders                1 blanked",
            "purchases             1 blanked",
            "notes                 1 blanked",
            "complaints            1 blanked",
            "reader_changes        1 blanked",
            "reader_requests       1 blanked",
        ]
        again = masthead("erase", *WHOM, "--yes", "--earn", database=person).stdout
        assert again == "nothing personal was left\n"
        said = import_files(files, account_id="1", database=person)
        assert said.splitlines()[-2:] == [
            "nothing changed",
            "10 rows of erased subscribers kept blank",
        ]
        everything = ask(server.url, snapshot)
        for trace in (WORD, WORD.lower(), NUMBER, DIGEST):
            assert trace not in str(everything)
        (ben, ada) = everything["subscribers"]
        assert ada["delete_date"]
        assert ben["first_name"] == "Ben"
        assert {(p["total"], p["invoice_id"]) for p in everything["purchases"]} == {
            ("10.50", "INV-1"),
            ("3", "INV-2"),
        }
        login = f"/2/subscribers/authenticate/?login={WORD}&password=97301"
        assert ask(server.url, login) == {"authenticated": False}
        assert ask(server.url, "/2/orders/1")["import_name"] is None
        assert all(a["text_value"] is None for a in ask(server.url, "/2/customfields/1"))
        assert all(a["values"] is None for a in ask(server.url, "/2/customfields/1"))


def test_who_cannot_be_asked_has_to_say_yes(person: str, tmp_path: Path) -> None:
    refused = run("erase", *WHOM, database=person, cwd=tmp_path)
    assert refused.returncode == 2
    assert "give --yes" in refused.stderr
    assert WORD in masthead("subscriber-data", *WHOM, database=person).stdout


@pytest.mark.parametrize(("answer", "is_erased"), [(b"n\n", False), (b"y\n", True)])
def test_a_terminal_is_asked(person: str, answer: bytes, *, is_erased: bool) -> None:
    terminal, end = os.openpty()
    with subprocess.Popen(
        [*MASTHEAD, "erase", *WHOM],
        env=environment(person),
        stdin=end,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        os.write(terminal, answer)
        output = process.communicate(timeout=60)[0].decode()
    os.close(terminal)
    os.close(end)
    assert "Erase subscriber 1 of account 1? It cannot be undone." in output
    assert process.returncode == (0 if is_erased else 1)
    held = masthead("subscriber-data", *WHOM, database=person).stdout
    assert (WORD not in held) == is_erased


@pytest.mark.parametrize("command", ["erase", "subscriber-data"])
def test_who_does_not_exist_is_said(person: str, command: str) -> None:
    options = ["--yes"] if command == "erase" else []
    for account_id, subscriber_id, sentence in (
        (1, 99, f"account 1 has no subscriber 99; {FIND}\n"),
        (9, 1, "there is no account 9; `masthead accounts list` lists all\n"),
    ):
        whom = (f"--account={account_id}", f"--subscriber={subscriber_id}")
        refused = masthead(command, *whom, *options, database=person, exit_status=1)
        assert refused.stderr == sentence
    refused = masthead(command, "--subscriber=1", *options, database=person, exit_status=2)
    assert "--account" in refused.stderr
    assert [record["command"].split()[0] for record in records(person)] == ["accounts", "import"]


def test_a_subscribers_data_are_complete_and_of_no_other_subscriber(person: str) -> None:
    """rules, "Personal data: what is stored"; each record as the interface shows it."""
    held = json.loads(masthead("subscriber-data", *WHOM, database=person).stdout)
    with serving(person) as server:
        everything = ask(server.url, f"/snapshot?entities={ENTITIES}")
        (subscription,) = ask(server.url, "/2/subscriptions/?subscriber_id=1")["subscriptions"]
        (entry,) = ask(server.url, "/2/downloadmailinglist/1/")
        answers = [
            a for a in ask(server.url, "/2/customfields/1") if a["values"] or a["text_value"]
        ]

    def shown(key: str) -> list[Any]:
        return [record for record in everything[key] if record["subscriber_id"] == "1"]

    assert held == {
        "subscriber": shown("subscribers")[0],
        "erased_at": None,
        "addresses": shown("addresses"),
        "subscriptions": [
            {
                **subscription,
                "received_issues": [{"issue_id": "1", "name": "Spring", "date": "2026-03-01"}],
                "begins_on": None,
                "cancelled_on": None,
                "deliveries": [
                    {
                        "subscription_id": "1",
                        "issue_id": "1",
                        "mailing_list_id": None,
                        "term_id": None,
                        "is_grace": "0",
                        "address_id": None,
                    }
                ],
                "terms": [],
                "suspensions": [],
                "temporary_addresses": [],
                "renewal_letters": [],
                "cancellations": [],
                "replacements": [],
            }
        ],
        "custom_fields": answers,
        "orders": [
            {
                **order,
                "order_items": [{**item, "refunded": "0.00"} for item in order["order_items"]],
                "external_reference": "SHOP-1",
                "paid_on": "2026-03-01",
                "payment_type": "Check",
                "payment_reference": None,
                "disputed_on": "2026-04-01",
                "dispute": WORD,
                "dispute_ended_on": None,
                "dispute_result": None,
            }
            for order in shown("orders")
        ],
        "purchases": shown("purchases"),
        "mailing_list_entries": [{"mailing_list_id": "1", "name": "March", **entry}],
        "notes": [
            {
                "note_id": "1",
                "subscriber_id": "1",
                "noted_at": "2026-03-02 09:00:00",
                "author": "ben",
                "text": f"{WORD} calls",
            }
        ],
        "complaints": [
            {
                "complaint_id": "1",
                "subscriber_id": "1",
                "subscription_id": "1",
                "issue_id": "1",
                "kind": "lost",
                "answer": "extended",
                "made_at": "2026-03-03 09:00:00",
                "author": "ben",
                "text": f"{WORD} was stolen",
            }
        ],
        "reader_changes": [
            {
                "reader_change_id": "1",
                "subscriber_id": "1",
                "subscription_id": "1",
                "kind": "address",
                "made_at": "2026-03-04 09:00:00",
                "before": f"{WORD} Road",
                "after": f"{WORD} Street",
                "undone_at": None,
                "undone_by": None,
            }
        ],
        "reader_consents": [
            {
                "reader_consent_id": "1",
                "subscriber_id": "1",
                "purpose": "news",
                "given_at": "2026-03-04 09:00:00",
                "ended_at": None,
            }
        ],
        "reader_requests": [
            {
                "reader_request_id": "1",
                "subscriber_id": "1",
                "subscription_id": "1",
                "issue_id": "1",
                "kind": "missing_copy",
                "text": f"{WORD} waits",
                "made_at": "2026-03-04 09:00:00",
                "answered_at": None,
                "answered_by": None,
            }
        ],
        "qualifications": [],
        "payer_details": None,
        "invoices": [],
        "payments": [],
        "bank_entries": [],
        **{name: [] for name in (*COLLECTING, "announced_renewals")},
    }
    assert held["subscriber"]["password_md5"] == DIGEST
    assert held["custom_fields"][0]["values"][0]["display_as"] == "Farming"
    masthead("erase", *WHOM, "--yes", "--earn", database=person)
    blank = masthead("subscriber-data", *WHOM, database=person).stdout
    assert WORD not in blank
    assert json.loads(blank)["erased_at"] == json.loads(blank)["subscriber"]["delete_date"]


@pytest.mark.parametrize("data", ["golden", "sparse"])
def test_awkward_data_are_given_too(account: str, data: str) -> None:
    import_files(DATA / data, account_id="1", database=account)
    with serving(account) as server:
        subscribers = ask(server.url, "/snapshot?entities=subscribers")["subscribers"]
    for subscriber in subscribers:
        whom = f"--subscriber={subscriber['subscriber_id']}"
        held = masthead("subscriber-data", "--account=1", whom, database=account).stdout
        assert json.loads(held)["subscriber"] == subscriber


def test_the_audit_says_who_did_what(person: str, files: Path, tmp_path: Path) -> None:
    """rules, "Who did what"; nothing secret or personal stands in it."""
    masthead("accounts", "add", 2, "--company-name", "Zebra", "--api-key=Sesame", database=person)
    options = ("--email=zebra@example.org", "--no-api-active", "--api-login=Sesame")
    masthead("accounts", "set", 2, *options, database=person)
    masthead("accounts", "rotate-credentials", 2, "--overlap=1h", database=person)
    masthead("accounts", "export", database=person)
    masthead("feed", "new-epoch", database=person)
    masthead("erase", *WHOM, "--yes", "--earn", database=person)
    masthead("subscriber-data", *WHOM, database=person)
    masthead("export", tmp_path / "out", "--account=1", database=person)
    found = records(person)
    assert [(record["account_id"], record["command"]) for record in found] == [
        (1, "accounts add 1 --api-key … --api-login …"),
        (1, f"import {files} --account 1"),
        (2, "accounts add 2 --company-name … --api-key …"),
        (2, "accounts set 2 --email … --no-api-active --api-login …"),
        (2, "accounts rotate-credentials 2 --overlap 3600"),
        (None, "accounts export"),
        (None, "feed new-epoch"),
        (1, "erase --subscriber 1 --yes --earn --account 1"),
        (1, "subscriber-data --subscriber 1 --account 1"),
        (1, f"export {tmp_path / 'out'} --account 1"),
    ]
    name = pwd.getpwuid(os.getuid()).pw_name
    assert all(record["user_name"].split()[0] == name for record in found)
    assert found[1]["summary"] == "41 rows inserted, 0 changed, 0 set aside, 0 kept blank"
    assert found[3]["summary"] == "set email, api_active, api_login"
    assert found[7]["summary"] == (
        "erased subscriber 1: blanked 1 of subscribers, 1 of addresses, 2 of custom_field_answers, "
        "1 of orders, 1 of purchases, 1 of notes, 1 of complaints, "
        "1 of reader_changes, 1 of reader_requests"
    )
    printed = masthead("audit", database=person).stdout
    for trace in ("Sesame", "zebra", "Zebra", WORD, "Ada", DIGEST):
        assert trace not in printed.replace(str(tmp_path), "")
    lines = printed.splitlines()
    assert len(lines) == len(found)
    assert lines[-1].endswith("account 1: the account's data were written out")
    of_two = records(person, "--account=2")
    assert [record["account_id"] for record in of_two] == [2, 2, 2, None, None]
    assert records(person, "--since=2999-01-01T00:00:00Z") == []
    assert records(person, f"--since={found[0]['at']}Z".replace(" ", "T")) == found
    refused = masthead("audit", "--since=soon", database=person, exit_status=2)
    assert "--since: 'soon' is not a time" in refused.stderr


def test_the_url_of_the_database_is_not_in_the_audit(account: str, tmp_path: Path) -> None:
    """rules, "Who did what": it may have a password in it."""
    masthead("export", tmp_path / "out", "--account=1", "--database", account, database=account)
    assert records(account)[-1]["command"].endswith("out --account 1 --database …")


def test_what_a_terminal_would_obey_is_not_printed(account: str, tmp_path: Path) -> None:
    folder = tmp_path / "a\x1b[31m\nb\udcff"
    folder.mkdir()
    (folder / "publications.csv").write_text("publication_id\n1\n", encoding="utf-8")
    masthead(
        "import",
        os.fsencode(folder).decode("utf-8", "surrogateescape"),
        "--account=1",
        database=account,
    )
    printed = masthead("audit", database=account).stdout
    assert "a\\x1b[31m\\nb\\udcff --account 1" in printed


def test_a_backup_is_in_the_audit_and_so_is_what_was_restored(tmp_path: Path) -> None:
    """rules, "Who did what": and what was done since the backup was made."""
    database = f"sqlite:///{tmp_path}/x.db"
    masthead("accounts", "add", 1, database=database)
    masthead("backup", tmp_path / "kept", database=database)
    masthead("accounts", "rotate-credentials", 1, database=database)
    masthead("restore", tmp_path / "kept", "--replace", database=database)
    assert [record["command"] for record in records(database)] == [
        "accounts add 1",
        f"backup {tmp_path / 'kept'}",
        "accounts rotate-credentials 1",
        *[f"restore {tmp_path / 'kept'} --replace"] * 2,
    ]
    (last,) = records(database)[-1:]
    assert last["summary"] == "carried over from the replaced database: credentials"


def test_a_new_secret_key_is_in_the_audit(tmp_path: Path) -> None:
    """rules, "Who did what"."""
    database, no_key = f"sqlite:///{tmp_path}/x.db", {"MASTHEAD_SECRET_KEY": ""}
    run("accounts", "add", 1, database=database, settings=no_key, cwd=tmp_path)
    (tmp_path / "x.db-key").rename(tmp_path / "old")
    options = ("--old-key", tmp_path / "old")
    run("accounts", "rekey", *options, database=database, settings=no_key, cwd=tmp_path)
    done = run("audit", "--format=json", database=database, settings=no_key, cwd=tmp_path)
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["command"] == f"accounts rekey --old-key {tmp_path / 'old'}"
    assert last["summary"] == "credentials sealed with another key (accounts: 1)"
