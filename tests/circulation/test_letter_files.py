"""Letters are in their file if and only if they are noted: rules, "The letters' file"."""

from __future__ import annotations

import fcntl
import resource
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import renewals
from masthead.errors import BadInput, MastheadError
from masthead.loading.letter_files import SentFile, send_letters
from tests.circulation.desk import Desk
from tests.long import SHORT_ON_SQLITE
from tests.servers import ROOT, environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers import Store


@pytest.fixture
def url(store: Store) -> Iterator[str]:
    url = store.new_database("letters")
    yield url
    store.drop_database(url)


@pytest.fixture
def desk(url: str) -> Iterator[Desk]:
    """An account with one letter that is due."""
    desk = Desk(url)
    desk.put("publications", publication_id=1, name="Tide", issues_per_year=12)
    desk.put("subscribers", subscriber_id=1, last_name="Ames")
    desk.put("subscriptions", subscription_id=1, subscriber_id=1, publication_id=1, issues=1,
             renew_campaign_active=1)  # fmt: skip
    of_books: dict[str, Any] = {"issues": 1, "issues_left": 1, "kind": "free"}
    desk.put("terms", term_id=1, subscription_id=1, **of_books)
    renewals.set_effort(desk.books, renewals.Effort(1, 1, 1))
    yield desk
    desk.leave()


def is_noted(desk: Desk) -> bool:
    return bool(desk.table("renewals_sent"))


def again(desk: Desk, name: str) -> None:
    """Let the letter be due again, of a reader of another name."""
    with desk.store.writer() as database, database.transaction():
        database.change("DELETE FROM renewals_sent WHERE account_id = 1")
        database.change("UPDATE subscribers SET last_name = :name WHERE account_id = 1", name=name)


@SHORT_ON_SQLITE
def test_a_call_that_is_killed_at_any_statement_is_finished_or_undone_by_the_next(
    desk: Desk, url: str, tmp_path: Path
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.circulation.dying_letters"],
        cwd=ROOT,
        env=environment(""),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as dying:
        assert dying.stdin
        assert dying.stdout
        seen = set()
        for at in range(1, 200):
            file = tmp_path / f"{at}.csv"
            unfinished = file.with_name(f"{file.name}.unfinished")
            print(url, desk.now, file, at, file=dying.stdin, flush=True)
            if int(dying.stdout.readline()) == 0:
                break
            assert not file.exists()
            noted = is_noted(desk)
            seen.add((noted, unfinished.exists()))
            sent = send_letters(desk.books, file)
            assert sent == (
                SentFile([], is_finished=True) if noted else SentFile([renewals.Due(1, 1, 1)])
            )
            assert file.read_text().count("Ames") == 2, "as the reader, and as who gets the letter"
            assert is_noted(desk)
            assert not unfinished.exists()
            again(desk, f"Ames {at}")
        dying.stdin.close()
    # Of the first statement on SQLite, there is no file yet.
    assert seen - {(False, False)} == {(False, True), (True, True)}


def test_a_file_without_space_is_neither_written_nor_noted(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "letters.csv"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    (tmp_path / "letters.csv.unfinished").write_text("left by something else\n")
    try:
        with pytest.raises(MastheadError, match=r"letters\.csv: cannot be written"):
            send_letters(desk.books, tmp_path / "none" / "letters.csv")
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
        with pytest.raises(MastheadError):
            send_letters(desk.books, file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    assert not file.exists()
    assert not is_noted(desk)
    send_letters(desk.books, file)
    assert [each.name for each in tmp_path.iterdir()] == ["letters.csv"]
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_another_command_writes_is_left_to_it(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "letters.csv"
    with (tmp_path / "letters.csv.unfinished").open("x") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(BadInput, match="another command is writing"):
            send_letters(desk.books, file)
    (tmp_path / "b.csv.unfinished").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput, match="cannot be written"):
        send_letters(desk.books, tmp_path / "b.csv")
    assert not is_noted(desk)


def test_letters_have_no_formula_unless_a_program_reads_them(desk: Desk, tmp_path: Path) -> None:
    """rules, "Exports for spreadsheets"."""
    again(desk, "@SUM(1)")
    for is_raw, written in ((False, ",'@SUM(1),"), (True, ",@SUM(1),")):
        file = tmp_path / f"{is_raw}.csv"
        send_letters(desk.books, file, is_raw=is_raw)
        assert written in file.read_text()
        again(desk, "@SUM(1)")
