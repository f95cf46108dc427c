"""``masthead mirror``: what it takes, what it says, and how it ends."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from masthead.store import epochs
from tests.cli.running import lines_until, running
from tests.client.service import Asked, Reply, Serve, forwarding, refused
from tests.mirror.conftest import EACH_COPY
from tests.mirror.kept import Kept
from tests.mirror.other import OtherService
from tests.postgres import Cluster
from tests.servers import MASTHEAD, STOP_SECONDS_MAX, environment, run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.mirror.kept import Source
    from tests.mirror.publisher import Publisher

NO_DATABASE = "sqlite:///nobody-needs-one.db"
LINE = re.compile(
    r"timestamp='[^']+' level='(?P<level>\w+)' event='mirror pass' records=(?P<records>\d+) "
    r"removed=(?P<removed>\d+) mailing_lists=(?P<lists>\d+) changed_since='[^']+' "
    r"seconds=[\d.]+(?P<full_load>.*)"
)


def settings(source: Source) -> dict[str, str]:
    """Return the variables of the environment that hold the credentials."""
    return {
        "MASTHEAD_API_KEY": source.key,
        "MASTHEAD_API_LOGIN": source.login,
    }


def mirror(
    source: Source,
    *arguments: object,
    folder: Path,
    exit_status: int = 0,
    variables: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run ``masthead mirror`` in a folder, with the credentials in the environment."""
    done = run(
        "mirror",
        *arguments,
        database=NO_DATABASE,
        settings=settings(source) | dict(variables or {}),
        cwd=folder,
    )
    assert done.returncode == exit_status, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    for secret in (source.key, source.login):
        assert secret not in done.stdout + done.stderr
    return done


def passes(text: str) -> list[dict[str, Any]]:
    """Return what each line says, all of which must be lines of passes."""
    found = [LINE.fullmatch(line) for line in text.splitlines()]
    assert all(found), text
    return [match.groupdict() for match in found if match]


@EACH_COPY
def test_a_pass_writes_one_line_and_ends_with_0(
    publisher: Publisher, kept: Kept, tmp_path: Path
) -> None:
    """rules, "Mirror: a pass"."""
    command = (publisher.url, "--to", kept.url, "--once")
    first = mirror(publisher, *command, folder=tmp_path)
    (line,) = passes(first.stderr)
    assert line["level"] == "info"
    assert (line["records"], line["lists"]) == ("20", "2")
    assert line["full_load"] == " full_load='the copy was empty'"
    again = mirror(publisher, *command, folder=tmp_path)
    assert passes(again.stderr) == [
        {"level": "info", "records": "0", "removed": "0", "lists": "0", "full_load": ""}
    ]
    assert first.stdout == again.stdout == ""
    assert kept.differences(publisher) == []


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_all_settings_may_come_from_the_environment_or_the_line(
    publisher: Publisher, tmp_path: Path
) -> None:
    """decisions, "Settings"."""
    copy = f"sqlite:///{tmp_path}/copy.db"
    variables = {"MASTHEAD_TO": copy, "MASTHEAD_ONCE": "1"}
    mirror(publisher, publisher.url, folder=tmp_path, variables=variables)
    mirror(publisher, "keep", publisher.url, folder=tmp_path, variables=variables)
    mirror(publisher, "--once", "--to=sqlite:///copy.db", publisher.url, folder=tmp_path)
    done = run(
        *("mirror", publisher.url, "--to", copy, "--once"),
        *("--key", publisher.key, "--login", publisher.login),
        database=NO_DATABASE,
        settings={"MASTHEAD_API_KEY": "another"},
        cwd=tmp_path,
    )
    assert (done.returncode, passes(done.stderr)[0]["records"]) == (0, "0")


BAD_USAGE = {
    "without a service": ((), "Missing argument 'BASE_URL'"),
    "without a copy": (("http://127.0.0.1:1",), "name the copy with --to"),
    "without credentials": (
        ("http://127.0.0.1:1", "--to", "sqlite:///copy.db", "--key="),
        "set MASTHEAD_API_KEY and MASTHEAD_API_LOGIN, or give --key and --login",
    ),
    "another kind of copy": (
        ("http://127.0.0.1:1", "--to", "copy.db"),
        "the copy is named as sqlite:///copy.db or postgresql://",
    ),
    "an entity that there is not": (
        ("http://127.0.0.1:1", "--to", "sqlite:///copy.db", "--entities", "readers"),
        "entities: there is no 'readers'; the names are customfields,",
    ),
    "a history without subscribers": (
        ("http://127.0.0.1:1", "--to=sqlite:///copy.db", "--history", "--entities=orders"),
        "a history of orders needs the entity subscribers too",
    ),
    "no URL": (("127.0.0.1:1", "--to", "sqlite:///copy.db"), "the base URL reads https://host"),
    "credentials in the URL": (
        ("http://user:canary@127.0.0.1:1", "--to", "sqlite:///copy.db"),
        "the base URL holds neither credentials",
    ),
    "no time": (
        ("http://127.0.0.1:1", "--to", "sqlite:///copy.db", "--every", "often"),
        "'often' is not a time such as 60s, 5m, 24h or 7d",
    ),
    "no time between passes": (
        ("http://127.0.0.1:1", "--to", "sqlite:///copy.db", "--every", "0s"),
        "'0s' is too short: take 1s or more",
    ),
    "no export": (
        ("http://127.0.0.1:1", "--to", "sqlite:///copy.db", "--from-export", "nowhere"),
        "Directory 'nowhere' does not exist",
    ),
}


@pytest.mark.parametrize("how", BAD_USAGE)
def test_a_call_that_cannot_work_ends_with_2(serve: Serve, tmp_path: Path, how: str) -> None:
    """rules, "Exit statuses"."""
    arguments, sentence = BAD_USAGE[how]
    done = mirror(OtherService(serve), "keep", *arguments, folder=tmp_path, exit_status=2)
    assert sentence in done.stderr
    assert "canary" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("once", [("--once",), ("--every", "1s")])
@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_refused_credentials_end_it_with_1_instead_of_a_loop(
    publisher: Publisher, tmp_path: Path, once: tuple[str, ...]
) -> None:
    """rules, "Exit statuses"; "Wrong credentials"."""
    wrong = publisher.with_key("a-wrong-key")
    done = mirror(
        wrong, publisher.url, "--to=sqlite:///copy.db", *once, folder=tmp_path, exit_status=1
    )
    assert done.stderr.startswith("/2/accounts/: 403: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("to", ["duckdb:///copy.duckdb", "parquet://copy"])
def test_without_the_package_of_duckdb_the_extra_is_named(tmp_path: Path, to: str) -> None:
    """rules, "Mirror: DuckDB"; "Exit statuses"."""
    program = (
        "import sys; sys.modules['duckdb'] = None; from masthead.__main__ import main; "
        f"sys.argv = ['masthead', 'mirror', 'http://127.0.0.1:1', '--to', {to!r}, '--once']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(NO_DATABASE) | {"MASTHEAD_API_KEY": "key", "MASTHEAD_API_LOGIN": "login"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "-py3-none-any.whl[duckdb]' brings it" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_pass_that_fails_ends_with_1_once_and_is_tried_again_else(
    publisher: Publisher, kept: Kept, serve: Serve, tmp_path: Path
) -> None:
    """rules, "Mirror: a pass"; "Exit statuses"."""
    pass_on = forwarding(publisher.url, "")
    service = serve(lambda _asked: refused(500, "out of order"))
    source = publisher.behind(service.url)
    once = mirror(source, source.url, "--to", kept.url, "--once", folder=tmp_path, exit_status=1)
    assert once.stderr == "/2/accounts/: 500: out of order\n"

    def recovers(asked: Asked) -> Reply:
        service.answer = pass_on
        return refused(500, "out of order")

    service.answer = recovers
    command = ("mirror", source.url, "--to", kept.url, "--every", "1s")
    with running(*command, database=NO_DATABASE, settings=settings(source)) as process:
        failed, passed = lines_until(process, "event='mirror pass'")
    assert "level='error' event='mirror pass failed'" in failed
    assert "reason='/2/accounts/: 500: out of order'" in failed
    assert passes(passed)[0]["records"] == "20"


def test_it_goes_on_by_itself(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass"."""
    command = ("mirror", publisher.url, "--to", kept.url, "--every", "1s")
    with running(*command, database=NO_DATABASE, settings=settings(publisher)) as process:
        lines_until(process, "event='mirror pass' records=20")
        publisher.load(addresses=[{"address_id": 1, "city": "Elsewhere"}])
        lines_until(process, "event='mirror pass' records=1")
        epochs.start_epochs(publisher.store)
        *_, line = lines_until(process, "event='mirror pass' records=20")
    assert passes(line)[0]["level"] == "warning"
    assert passes(line)[0]["full_load"] == " full_load='the copy was too old for the change feed'"


def test_what_a_copy_lacks_is_in_the_line_of_its_first_pass(
    serve: Serve, kept: Kept, tmp_path: Path
) -> None:
    """rules, "Mirror: services without a snapshot"."""
    other = OtherService(serve)
    command = (other.url, "--to", kept.url, "--once")
    (line,) = passes(mirror(other, *command, folder=tmp_path).stderr)
    assert line["level"] == "warning"
    # The quotes are those of Python, since the sentence has none.
    assert " lacking='the service has no snapshot: addresses, purchases," in line["full_load"]
    (line,) = passes(mirror(other, *command, folder=tmp_path).stderr)
    assert (line["level"], line["full_load"]) == ("info", "")


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_an_export_to_begin_with_may_be_named_for_ever(
    publisher: Publisher, kept: Kept, tmp_path: Path
) -> None:
    """rules, "Mirror: a pass": a service that starts again is called as before."""
    folder = publisher.export()
    command = (publisher.url, "--to", kept.url, "--once", "--from-export", folder)
    first = mirror(publisher, *command, folder=tmp_path)
    assert passes(first.stderr)[0]["full_load"] == ""
    warning, line = mirror(publisher, *command, folder=tmp_path).stderr.splitlines()
    assert "the copy has begun already: --from-export was not used" in warning
    assert passes(line)


def test_verify_ends_with_0_or_names_what_differs_and_ends_with_1(
    publisher: Publisher, kept: Kept, tmp_path: Path
) -> None:
    """decisions, "Digest"; "Exit statuses"."""
    kept.update(publisher)
    command = ("verify", publisher.url, "--to", kept.url)
    good = mirror(publisher, *command, folder=tmp_path)
    assert good.stdout.splitlines() == [
        "custom_fields             5 compared",
        "subscriptions             2 compared",
        "subscribers               5 compared",
        "addresses                 2 compared",
        "purchases                 2 compared",
        "list_downloads            2 compared",
        "orders                    2 compared",
        "mailing_list_entries      1 compared",
        "custom_field_definitions  2 compared",
        "custom_field_options      3 compared",
        "the copy is complete",
    ]
    kept.run(
        "DELETE FROM orders WHERE order_id = 2",
        "UPDATE mailing_list_entries SET copies = 8",
        "INSERT INTO subscribers (subscriber_id) VALUES (8), (9)",
    )
    bad = mirror(publisher, *command, folder=tmp_path, exit_status=1)
    assert bad.stdout.splitlines()[-5:] == [
        "different: mailing_list_entries 1/1",
        "missing: orders 2",
        "extra: subscribers 8",
        "extra: subscribers 9",
        "the copy differs: 1 different, 1 missing, 2 extra",
    ]
    assert good.stderr == bad.stderr == ""


@EACH_COPY
@pytest.mark.parametrize("repair", [(), ("--repair",)], ids=["", "repair"])
def test_verify_begins_no_copy(
    publisher: Publisher, kept: Kept, tmp_path: Path, repair: tuple[str, ...]
) -> None:
    """rules, "Exit statuses": a name that was mistyped is no copy that is complete."""
    command = ("verify", publisher.url, "--to", kept.url, *repair)
    done = mirror(publisher, *command, folder=tmp_path, exit_status=1)
    where = "in this database" if kept.kind == "postgresql" else f"at {kept.path}"
    assert done.stderr == (
        f"there is no copy {where}: make one first; `masthead mirror` with the same --to makes "
        "one\n"
    )
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []
    if kept.kind == "postgresql":
        assert (
            kept.ask(
                "SELECT relname FROM pg_class WHERE pg_table_is_visible(oid)"
                " AND relnamespace = current_schema()::regnamespace"
            )
            == []
        )


def test_verify_repairs_if_it_is_told_to_and_ends_with_0(
    publisher: Publisher, kept: Kept, tmp_path: Path
) -> None:
    """rules, "Mirror: repair"."""
    kept.update(publisher)
    command = ("verify", publisher.url, "--to", kept.url)
    kept.run(
        "DELETE FROM orders WHERE order_id = 2",
        "UPDATE mailing_list_entries SET copies = 8",
        "INSERT INTO subscribers (subscriber_id) VALUES (8), (9)",
    )
    done = mirror(publisher, *command, "--repair", folder=tmp_path)
    assert done.stdout.splitlines()[-7:] == [
        "custom_field_options      3 compared",
        "different: mailing_list_entries 1/1",
        "missing: orders 2",
        "extra: subscribers 8",
        "extra: subscribers 9",
        "records repaired: 4",
        "the copy is complete",
    ]
    again = mirror(publisher, *command, "--repair", folder=tmp_path)
    assert again.stdout.splitlines()[-2:] == done.stdout.splitlines()[-7::6]
    assert done.stderr == again.stderr == ""


def test_the_log_says_how_many_records_were_removed(
    publisher: Publisher, kept: Kept, tmp_path: Path
) -> None:
    """rules, "Mirror: records that are gone"."""
    command = (publisher.url, "--to", kept.url, "--once")
    mirror(publisher, *command, folder=tmp_path)
    publisher.remove(orders=[1], purchases=[1, 2])
    for expected in ("3", "0"):
        (line,) = passes(mirror(publisher, *command, folder=tmp_path).stderr)
        assert (line["records"], line["removed"]) == ("0", expected)


def test_verify_says_what_another_service_does_not_show(
    serve: Serve, kept: Kept, tmp_path: Path
) -> None:
    """decisions, "Digest"; "Mirror: services without a snapshot"."""
    other = OtherService(serve)
    kept.update(other)
    done = mirror(other, "verify", other.url, "--to", kept.url, folder=tmp_path)
    *_, not_compared, found = done.stdout.splitlines()
    assert not_compared.startswith("not compared: the service has no digest, and does not show ")
    assert "the service has no snapshot" in not_compared
    assert found == "no difference was found"


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_at_a_terminal_it_shows_how_far_it_is(publisher: Publisher, tmp_path: Path) -> None:
    """rules, "Mirror: a pass"; into a pipe it writes its lines alone."""
    ours, theirs = os.openpty()
    with closing(open(ours, "rb", buffering=0)) as terminal:  # noqa: PTH123 - a descriptor
        process = subprocess.Popen(
            [*MASTHEAD, "mirror", publisher.url, "--to", f"sqlite:///{tmp_path}/copy.db", "--once"],
            env=environment(NO_DATABASE) | settings(publisher) | {"TERM": "xterm", "COLUMNS": "99"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
        )
        os.close(theirs)
        shown = b""
        while piece := read(terminal):
            shown += piece
        assert process.wait(STOP_SECONDS_MAX) == 0
    assert b"mailing lists: 2" in shown
    assert b"event='mirror pass'" in shown


def read(terminal: Any) -> bytes:
    """Return what comes next, nothing where the other end is closed."""
    try:
        found: bytes = terminal.read(4096)
    except OSError:
        return b""
    return found


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_a_copy_that_goes_away_and_comes_back_is_gone_on_with(publisher: Publisher) -> None:
    """rules, "Mirror: a pass": its database may restart in the night."""
    with closing(Cluster()) as cluster:
        cluster.create("copy")
        kept = Kept(cluster.url("copy"))
        command = ("mirror", publisher.url, "--to", kept.url, "--every", "1s")
        with running(*command, database=NO_DATABASE, settings=settings(publisher)) as process:
            lines_until(process, "event='mirror pass' records=20")
            cluster.stop()
            # A pass that the stop has interrupted says something else before.
            *_, failed = lines_until(process, "reason='the copy cannot be opened: ")
            publisher.load(addresses=[{"address_id": 1, "city": "Elsewhere"}])
            cluster.start()
            lines_until(process, "event='mirror pass' records=1")
        assert "event='mirror pass failed'" in failed
        assert kept.differences(publisher) == []


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_a_removed_file_begins_again(publisher: Publisher, tmp_path: Path) -> None:
    """rules, "Mirror: a pass"."""
    path = tmp_path / "copy.db"
    kept = Kept(f"sqlite:///{path}")
    command = ("mirror", publisher.url, "--to", kept.url, "--every", "1s")
    with running(*command, database=NO_DATABASE, settings=settings(publisher)) as process:
        lines_until(process, "event='mirror pass' records=20")
        path.unlink()
        lines_until(process, "full_load='the copy was empty'")
    assert kept.differences(publisher) == []
