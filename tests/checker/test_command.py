"""``masthead check``: what it takes, what it prints, and how it ends."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from masthead.checker import CHECKS, check, title_of
from tests.checker.altering import Reply, altered
from tests.checker.edits import CDC, GET_ORDER, ORDER, each, instead, is_, ok, put, says
from tests.checker.planted_filters import lost, zero_overlooked
from tests.long import ONLY_LONG
from tests.servers import run
from tests.store.conftest import ON_SQLITE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.checker.altering import Asked, Send
    from tests.mirror.publisher import Publisher

NO_DATABASE = "sqlite:///nobody-needs-one.db"


CURL = 'curl -sSi -u "$MASTHEAD_API_KEY:$MASTHEAD_API_LOGIN"'


def checked(
    publisher: Publisher, url: str, *arguments: str, folder: Path, columns: str = "200"
) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder, with the credentials in the environment."""
    settings = {
        "MASTHEAD_API_KEY": publisher.key,
        "MASTHEAD_API_LOGIN": publisher.login,
        "COLUMNS": columns,
    }
    done = run(
        *("check", url, "--rate", "1000", *arguments),
        database=NO_DATABASE,
        settings=settings,
        cwd=folder,
    )
    assert "Traceback" not in done.stderr
    assert publisher.key not in done.stdout + done.stderr
    assert publisher.login not in done.stdout + done.stderr
    assert list(folder.iterdir()) == []
    return done


def personal(publisher: Publisher) -> set[str]:
    """Return the values of the made-up people, but for words and numbers of two digits."""
    found = set()
    for name in ("subscribers", "addresses"):
        with (publisher.folder / "small" / f"{name}.csv").open(newline="") as file:
            for row in csv.DictReader(file):
                found |= {row[key] for key in row if not key.endswith("_id")}
    return {value for value in found if len(value) > 2}


@ON_SQLITE
def test_at_masthead_it_prints_no_difference_and_ends_with_0(
    small: Publisher, tmp_path: Path
) -> None:
    """rules, "Exit statuses"."""
    done = checked(small, small.url, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    *_, last = done.stdout.splitlines()
    assert re.fullmatch(r"\d+ checks, \d+ requests; differences: 0, notes: 0, not tried: 2", last)


@ON_SQLITE
def test_a_difference_is_a_row_with_the_section_and_ends_with_1(
    small: Publisher, tmp_path: Path
) -> None:
    """rules, "Exit statuses"; "Checker: what it says and keeps"."""
    with altered(small.url, says(ORDER, put(grand_total=str))) as server:
        done = checked(small, server.url, folder=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    rows = [line for line in done.stdout.splitlines() if "grand_total" in line]
    (row,) = [line for line in rows if "string" in line]
    cells = [cell.strip() for cell in row.strip("│").split("│")]
    assert cells[:4] == ["1", "Order", GET_ORDER, "grand_total"]
    assert cells[4].startswith("a string, which has to be a JSON number")
    line = f"{CURL} {server.url}/2/orders/{{order_id}}".replace("http", "'http") + "'"
    assert f"1: {line}" in done.stdout.splitlines()


@ON_SQLITE
def test_a_note_alone_ends_with_0(small: Publisher, tmp_path: Path) -> None:
    """decisions, "Checker: differences and notes"."""
    with altered(small.url, instead(is_(ORDER, 404), Reply(418, b'{"error": "no"}'))) as server:
        done = checked(small, server.url, folder=tmp_path)
    assert done.returncode == 0
    assert "an unknown order is answered with 418; clients expect 404" in done.stdout


@ON_SQLITE
def test_json_has_the_same(small: Publisher, tmp_path: Path) -> None:
    with altered(small.url, says(CDC, each("addresses", put(verified=str)))) as server:
        done = checked(small, server.url, "--format", "json", folder=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    found = json.loads(done.stdout)
    assert list(found) == ["differences", "notes", "not_tried", "checks", "requests", "ended"]
    assert found["ended"] is None
    assert found["differences"] == [
        {
            "section": "Address",
            "request": "GET /2/cdc",
            "field": "addresses[].verified",
            "text": found["differences"][0]["text"],
            "repeat": found["differences"][0]["repeat"],
        }
    ]
    assert found["differences"][0]["repeat"].startswith(
        f"{CURL} '{server.url}/2/cdc?changed_since="
    )
    assert found["checks"] == sum(map(len, CHECKS.values()))
    titles = {title_of(each) for group in CHECKS.values() for each in group}
    assert {one["check"] for one in found["not_tried"]} <= titles


@ON_SQLITE
@pytest.mark.parametrize("form", ["text", pytest.param("json", marks=ONLY_LONG)])
def test_no_value_of_a_person_is_printed(small: Publisher, tmp_path: Path, form: str) -> None:
    """rules, "Checker: what it says and keeps"."""
    values = personal(small)
    assert len(values) > 300

    def wrong(text: str) -> str:
        return f"{text}{text}{text}"

    people = put(
        **dict.fromkeys(("email", "first_name", "last_name", "renewal_code"), wrong),
        password_md5=wrong,
        subscriber_id=lambda text: f"0{text}",
        delete_date=["a list"],
    )
    addresses = put(zip_code=int, city=lambda text: [text], verified=lambda _: "no")

    def edit(content: dict[str, object]) -> None:
        each("subscribers", people)(content)
        each("addresses", addresses)(content)

    with altered(small.url, says(r"/2/cdc|/2/subscribers/", edit)) as server:
        done = checked(small, server.url, "--format", form, folder=tmp_path)
        assert done.returncode == 1
        assert "first_name" in done.stdout
        said = set(re.findall(r"[^\s`│\",()]+", done.stdout))
        assert not {value for value in values if value in said or f" {value} " in done.stdout}


@ON_SQLITE
def test_the_request_of_a_finding_shows_it_again(small: Publisher, tmp_path: Path) -> None:
    """rules, "Checker: what it says and keeps": ids are in it only with --show-ids."""
    alter = lost(lambda value: "'" in value, ok({"subscribers": []}))
    with altered(small.url, alter) as server:
        report = check(server.url, small.key, small.login, 1000, show_ids=True)
        hidden = check(server.url, small.key, small.login, 1000)
    (line,) = (one.repeat for one in report.differences if one.field == "last_name")
    (number,) = re.findall(r"\{last_name of subscriber_id (\d+)\}", line)
    with (small.folder / "small" / "subscribers.csv").open(newline="") as file:
        names = {row["subscriber_id"]: row["last_name"] for row in csv.DictReader(file)}
    assert "'" in names[number]
    assert [one.repeat for one in hidden.differences if one.field == "last_name"] == [
        f"{CURL} '{server.url}/2/subscribers/?last_name={{last_name}}'"
    ]


@ON_SQLITE
def test_the_line_repeats_what_was_asked(small: Publisher, tmp_path: Path) -> None:
    """rules, "Checker: what it says and keeps"; the shell and curl read the line."""
    with altered(small.url, zero_overlooked("issues_left")) as server:
        report = check(server.url, small.key, small.login, 1000)
        (line,) = (one.repeat for one in report.differences)
        settings = {"MASTHEAD_API_KEY": small.key, "MASTHEAD_API_LOGIN": small.login}
        done = subprocess.run(
            line, shell=True, env=os.environ | settings, capture_output=True, check=True
        )
        assert server.asked[-1].target == "/2/subscriptions/?issues_left=0"
    assert b"200 OK" in done.stdout.partition(b"\r\n")[0]


BAD_USAGE = {
    "without a service": ((), "Missing argument 'BASE_URL'"),
    "without credentials": (("http://127.0.0.1:1", "--key="), "set MASTHEAD_API_KEY and"),
    "no URL": (("127.0.0.1:1",), "the base URL reads https://host"),
    "a rate of nothing": (("http://127.0.0.1:1", "--rate=0"), "is not in the range"),
    "a rate that is no number": (("http://127.0.0.1:1", "--rate=nan"), "no number of requests"),
    "another form": (("http://127.0.0.1:1", "--format=xml"), "is not one of"),
}


@pytest.mark.parametrize("how", BAD_USAGE)
def test_a_call_that_cannot_work_ends_with_2(tmp_path: Path, how: str) -> None:
    """rules, "Exit statuses"."""
    arguments, sentence = BAD_USAGE[how]
    settings = {"MASTHEAD_API_KEY": "key", "MASTHEAD_API_LOGIN": "login"}
    done = run("check", *arguments, database=NO_DATABASE, settings=settings, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr


@ON_SQLITE
def test_a_service_that_cannot_be_asked_ends_with_1_and_a_sentence(
    small: Publisher, tmp_path: Path
) -> None:
    """rules, "Exit statuses"."""
    wrong = small.with_key("a-wrong-key")
    for publisher, url, sentence in (
        (small, "http://127.0.0.1:1", "/2/accounts/: no complete response: "),
        (wrong, small.url, "/2/accounts/: 403: the credentials are refused\n"),
    ):
        done = checked(publisher, url, folder=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(sentence)
        assert len(done.stderr.splitlines()) == 1


@ON_SQLITE
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_service_that_stops_is_not_a_difference_and_earlier_findings_are_printed(
    small: Publisher, tmp_path: Path, form: str
) -> None:
    """rules, "Exit statuses"; rules, "Checker: what may change meanwhile"."""
    left = iter(range(40))

    def going_away(asked: Asked, send: Send) -> Reply:
        if next(left, None) is None:
            return Reply(200, b"", is_cut=True)
        reply = send(asked)
        return replace(reply, status=400) if asked.path == "/2/nothing-is-here/" else reply

    with altered(small.url, going_away) as server:
        done = checked(small, server.url, "--format", form, folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("/2/accounts/: no complete response: ")
    if form == "json":
        found = json.loads(done.stdout)
        assert found["ended"] == done.stderr.strip()
        assert (found["differences"], len(found["notes"])) == ([], 1)
        assert found["checks"] < sum(map(len, CHECKS.values()))
    else:
        assert "differences: 0, notes: 1," in done.stdout


@ON_SQLITE
def test_a_server_of_something_else_is_named_as_such(small: Publisher, tmp_path: Path) -> None:
    """rules, "Exit statuses"; also with the version in the base URL."""
    done = checked(small, f"{small.url}/2/", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "/2/accounts/: 404: no path of the interface is here; "
        "the base URL is what comes before /2/\n"
    )
