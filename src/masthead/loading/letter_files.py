"""The file of renewal letters, which exists if and only if its letters are noted as sent.

A call writes the complete file beside its place, commits the transaction that notes the letters,
with the file's digest in the audit log, and then gives the file its name. So the next call can
finish an interrupted one: its letters are noted, or they are not (rules, "The letters' file").
"""

import csv
import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from masthead.books import Books, renewals
from masthead.errors import BadInput
from masthead.loading.export import harmless
from masthead.private_files import new_file, sync

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
_MODE = 0o600


class SentFile(NamedTuple):
    """The letters of a file, by publication and effort.

    ``is_finished``: an interrupted call noted the letters, and the file has them now. This call
    looked for no other letters, and ``due`` is empty.
    """

    due: list[renewals.Due]
    is_finished: bool = False


def send_letters(
    books: Books, path: Path, publication_id: int | None = None, *, is_raw: bool = False
) -> SentFile:
    """Write the letters that are due today, and note them as sent: both or neither.

    ``is_raw`` writes text exactly as it is stored, for a program; otherwise a spreadsheet reads
    none as a formula.

    An unfinished file of an earlier call gets its name if its letters are noted, and is removed if
    not. Raises NotFound for an unknown publication, BadInput if the file exists, if it cannot be
    written, or while another command writes it.
    """
    unfinished = path.with_name(f"{path.name}.unfinished")
    with _told(path), _only_writer(path, unfinished) as file:

        def write(letters: Iterator[renewals.Letter]) -> str:
            file.truncate(0)
            _write(file, letters, is_raw=is_raw)
            sync(unfinished.parent)
            return _digest(file)

        try:
            with books.together() as inside:
                # This transaction has the lock, so no other one can still note the letters.
                sent = SentFile([], is_finished=renewals.is_noted(inside, _digest(file)))
                if not sent.is_finished:
                    sent = SentFile(renewals.send(inside, write, publication_id).due)
        except BaseException:
            _settle(books, file, unfinished, path)
            raise
        _give_name(unfinished, path)
    return sent


def copy_letters(
    books: Books,
    path: Path | None,
    publication_id: int | None = None,
    *,
    sent_on: str | None = None,
    is_raw: bool = False,
) -> list[renewals.Due]:
    """Return the letters that are due today, or that were sent on a day (``sent_on``).

    With a ``path``, also writes them into a file. Notes nothing. Raises what
    ``renewals.written_letters`` does, and BadInput if the file cannot be written.
    """
    with renewals.written_letters(books, publication_id, sent_on=sent_on) as letters:
        if path is not None:
            unfinished = path.with_name(f"{path.name}.copy.unfinished")
            with _told(path):
                _check_free(path)
                try:
                    with new_file(unfinished) as file:
                        _write(file, letters.rows, is_raw=is_raw)
                    _give_name(unfinished, path)
                finally:
                    unfinished.unlink(missing_ok=True)
        return letters.due


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from error


@contextmanager
def _only_writer(path: Path, unfinished: Path) -> Iterator[IO[str]]:
    """Open the unfinished file, or an empty one, and lock it against other commands."""
    is_own = False
    while not is_own:
        _check_free(path)
        opened = os.open(unfinished, _FLAGS, _MODE)
        with os.fdopen(opened, "r+", encoding="utf-8", newline="") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BadInput(f"{path}: another command is writing this file") from None
            # Another command may have given it its name before this lock.
            with suppress(FileNotFoundError):
                is_own = os.path.samestat(os.fstat(file.fileno()), os.lstat(unfinished))
            if is_own:
                os.fchmod(file.fileno(), _MODE)
                yield file


def _check_free(path: Path) -> None:
    if path.exists():
        raise BadInput(f"{path} exists already: its letters are not replaced, name another file")


def _settle(books: Books, file: IO[str], unfinished: Path, path: Path) -> None:
    """Give a file its name if its letters were noted before the operation failed, or remove it.

    If the database cannot tell, the file stays for the next call.
    """
    is_noted = False
    if os.fstat(file.fileno()).st_size:
        try:
            with books.together(dry_run=True) as inside:
                is_noted = renewals.is_noted(inside, _digest(file))
        except Exception:  # noqa: BLE001 - the first error is raised
            return
    if is_noted:
        _give_name(unfinished, path)
    else:
        unfinished.unlink()


def _give_name(unfinished: Path, path: Path) -> None:
    unfinished.replace(path)
    sync(path.parent)


def _digest(file: IO[str]) -> str:
    """Return the SHA-256 of the whole file."""
    file.seek(0)
    return hashlib.file_digest(file.buffer, "sha256").hexdigest()  # type: ignore[attr-defined]


def _write(file: IO[str], letters: Iterator[renewals.Letter], *, is_raw: bool) -> None:
    file.seek(0)
    writer = csv.writer(file)
    writer.writerow(renewals.LETTER)
    writer.writerows(letters if is_raw else map(harmless, letters))
    file.flush()
    os.fsync(file.fileno())
