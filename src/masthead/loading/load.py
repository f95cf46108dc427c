"""Import of files into an account: all rows, or the valid rows with the others set aside.

First the files are read, validated and staged, without a lock. Then one transaction checks the rows
against each other and the database, and merges them. A killed import changes nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from masthead.contract.records import ACCOUNTS, ERASURES
from masthead.errors import BadInput, BadUsage
from masthead.loading.checks import check_batch
from masthead.loading.files import InputFile, find_files, read_batches
from masthead.loading.rejects import write_rejects
from masthead.store import Store, accounts, audit, checking, commits, epochs, erasing, merging
from masthead.store.merging import Counts
from masthead.store.staging import Problem, Staging, column_names, mask_of, staging_for

__all__ = ["PROBLEMS_SHOWN_MAX", "Loaded", "load"]

PROBLEMS_SHOWN_MAX = 100

Advance = Callable[[InputFile, int], None]
Tell = Callable[[str], None]


class Loaded(NamedTuple):
    """The result of an import: the counts by table, and the number of rejected rows by file.

    ``kept_blank`` is the number of rows with personal data of erased subscribers, which stay blank.
    """

    counts: dict[str, Counts]
    rejected: dict[str, int]
    kept_blank: int = 0


def load(
    store: Store,
    paths: Sequence[Path],
    *,
    account_id: int | None,
    reject: Path | None = None,
    advance: Advance = lambda _file, _done: None,
    tell: Tell = lambda _doing: None,
    by: audit.Deed | None = None,
) -> Loaded:
    """Import the files of ``paths`` (files and folders).

    New rows are inserted, existing rows updated, by key. A column that a file lacks is unchanged,
    nothing is deleted, and personal data of erased subscribers stays blank. Invalid rows prevent
    the import, unless ``reject`` names a folder for them. ``advance`` is called with a file and the
    number of bytes read, ``tell`` with each later step. ``by`` is written to the audit log. Raises
    BadInput, which lists the problems as ``file:line: column: sentence``, and BadUsage.
    """
    files = find_files(paths)
    account_files = [file for file in files if file.table is ACCOUNTS]
    data_files = [file for file in files if file.table is not ACCOUNTS]
    if data_files and account_id is None:
        raise BadUsage(f"{data_files[0].label}: say with --account whose data it is")
    if account_files and data_files:
        raise BadUsage("load accounts first, by themselves; then the data of each account")
    if account_files and reject:
        raise BadUsage("accounts are loaded all or nothing: mend the file, and leave out --reject")
    if reject:
        _check_folder(reject, files)
    if account_files:
        return _load_accounts(store, account_files, by)
    assert account_id is not None
    return _load_data(store, account_id, data_files, reject, by, advance=advance, tell=tell)


def _check_folder(reject: Path, files: list[InputFile]) -> None:
    """Raise BadUsage if rejected rows could overwrite an import file."""
    for file in files:
        if reject.resolve() in file.path.resolve().parents[:2]:
            raise BadUsage(f"--reject {reject}: {file.label} stands there; choose another folder")


def _load_data(
    store: Store,
    account_id: int,
    files: list[InputFile],
    reject: Path | None,
    by: audit.Deed | None,
    *,
    advance: Advance,
    tell: Tell,
) -> Loaded:
    epochs.follow_history(store, account_id, waits=True)
    with store.writer() as connection:
        accounts.settings_of(connection, account_id)
        with staging_for(connection, account_id) as staging:
            with staging.filling():
                for number, file in enumerate(files):
                    _stage(staging, number, file, advance)
            tell("waiting for other writers")
            with connection.transaction():
                connection.lock_account(account_id)
                tell("checking")
                kept_blank = erasing.blank_staged(staging)
                checking.check(staging, discard=reject is not None)
                if reject is None and staging.problem_count():
                    # The rollback removes the problems from the database.
                    shown = staging.problems(PROBLEMS_SHOWN_MAX)
                    advice = "mend the rows, or put them aside with --reject DIR"
                    raise BadInput(_listed(files, shown, staging.problem_count(), advice))
                counts, grown = merging.merge(staging, tell)
                rejected = write_rejects(reject, files, staging) if reject else {}
                loaded = Loaded(counts, rejected, kept_blank)
                audit.record(connection, by, _summary(loaded), account_id=account_id)
        commits.stamp_commits(store, account_id)
        for table in grown:
            connection.analyze(table)
    has_erased = ERASURES.name in counts and counts[ERASURES.name].inserted
    if has_erased and any(count.changed for count in counts.values()):
        tell("taking traces away")
        store.vacuum_after_erase()
    return loaded


def _summary(loaded: Loaded) -> str:
    inserted = sum(count.inserted for count in loaded.counts.values())
    changed = sum(count.changed for count in loaded.counts.values())
    rejected = sum(loaded.rejected.values())
    return (
        f"{inserted} rows inserted, {changed} changed, {rejected} put aside, "
        f"{loaded.kept_blank} kept blank"
    )


def _stage(staging: Staging, number: int, file: InputFile, advance: Advance) -> None:
    for batch in read_batches(file):
        checked = check_batch(file.table, batch)
        staging.add(file.table, number, checked.columns, checked.rows, checked.masks)
        staging.refuse(Problem(number, *problem) for problem in checked.problems)
        staging.refuse_keys(file.table, checked.refused_keys)
        advance(file, batch.done)


def _listed(files: list[InputFile], shown: Iterable[Problem], count: int, advice: str) -> str:
    lines = [
        f"{files[problem.file].label}:{problem.line}: {problem.column}: {problem.sentence}"
        for problem in shown
    ]
    more = count - PROBLEMS_SHOWN_MAX
    if more > 0:
        lines.append(f"and {more} more {'problem' if more == 1 else 'problems'}")
    return "\n".join([*lines, f"nothing was loaded; {advice}"])


def _load_accounts(store: Store, files: list[InputFile], by: audit.Deed | None) -> Loaded:
    """Import accounts, all or none.

    An empty api_key or api_login changes nothing, because the interface shows them empty while the
    API is off. A new account without them gets random ones.
    """
    problems: list[Problem] = []
    rows: list[accounts.Values] = []
    seen: dict[object, str] = {}
    for number, file in enumerate(files):
        for batch in read_batches(file):
            checked = check_batch(file.table, batch)
            problems += [Problem(number, *problem) for problem in checked.problems]
            every = mask_of(ACCOUNTS, checked.columns)
            masks = checked.masks or repeat(every, len(checked.rows))
            for mask, (line, *values) in zip(masks, checked.rows, strict=True):
                assert isinstance(line, int)
                known = column_names(ACCOUNTS, mask)
                named = zip(checked.columns, values, strict=True)
                row = {name: value for name, value in named if name in known}
                place = f"{file.label}:{line}"
                first = seen.setdefault(row["account_id"], place)
                if first != place:
                    sentence = f"{row['account_id']} is in {first} too"
                    problems.append(Problem(number, line, "account_id", sentence))
                keys = ("api_key", "api_login")
                rows.append({k: v for k, v in row.items() if v is not None or k not in keys})
    if problems:
        shown = sorted(problems)[:PROBLEMS_SHOWN_MAX]
        raise BadInput(_listed(files, shown, len(problems), "mend the rows"))
    return Loaded({ACCOUNTS.name: Counts(*accounts.save_accounts(store, rows, by=by))}, {})
