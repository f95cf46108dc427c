"""Import of files into an account: all rows, or the valid rows with the others set aside.

First the files are read, validated and staged, without a lock. Then one transaction checks the rows
against each other and the database, and merges them. A killed import changes nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from masthead.books import imports
from masthead.contract.records import ACCOUNTS, ERASURES, Table
from masthead.errors import BadInput, BadRows, BadUsage
from masthead.loading.account_files import load_accounts
from masthead.loading.checks import CheckedBatch, check_batch
from masthead.loading.complete import check_brake, find_missing
from masthead.loading.doubts import Doubts
from masthead.loading.files import InputFile, read_batches
from masthead.loading.limits import Limit
from masthead.loading.mapping_files import Input, find_inputs, prepared
from masthead.loading.mapping_missing import key_columns
from masthead.loading.mapping_rows import MappedFile, Mapper
from masthead.loading.not_records import lone_cells, without_others
from masthead.loading.problems import (
    PROBLEMS_SHOWN_MAX,
    Reported,
    first_place,
    listed,
    told_alone,
    with_keys,
)
from masthead.loading.rejects import write_rejects
from masthead.loading.sources import source_batches
from masthead.store import (
    Store,
    accounts,
    audit,
    commits,
    dry_run_diff,
    epochs,
    loads,
    staged_checks,
)
from masthead.store.merging import Counts, Merged
from masthead.store.natural_keys import NaturalKeys
from masthead.store.staging import NUMBERS_PER_FILE, Problem, Staging, staging_for

Advance = Callable[[Input, int], None]
Tell = Callable[[str], None]


class Loaded(NamedTuple):
    """The result of an import: the counts by table, and the number of rejected rows by file.

    ``kept_blank`` is the number of rows with personal data of erased subscribers, which stay blank.
    ``shown`` are the rows that a dry run shows. ``kept`` is the number of rows, by table, that
    complete files lack but that stay, since the books have them.
    """

    counts: dict[str, Counts]
    rejected: dict[str, int]
    kept_blank: int = 0
    shown: Sequence[dry_run_diff.Shown] = ()
    kept: Mapping[str, int] = MappingProxyType({})


class Options(NamedTuple):
    """How to import.

    ``reject`` is the folder for invalid rows; None: they prevent the import. ``max_rejected`` is
    how many of a file's rows may be set aside there; None: any number. ``max_removed``: the files
    are complete, so rows that they lack are removed from their tables, unless a table would lose
    more than this. ``is_dry``: change nothing, leave no record and no file, and return at most
    ``show`` new rows of each table, as many changed rows, and as many removed rows. ``waits``: wait
    for another load of the account. ``marker`` is the name of a file without data, and
    ``marker_at`` is its time, for the record of loads (``store.loads``). ``allow_truncated``: load
    files that look cut off. ``mapping`` is a file that describes files in other formats
    (``loading.mapping``).
    """

    reject: Path | None = None
    max_rejected: Limit | None = None
    max_removed: Limit | None = None
    is_dry: bool = False
    show: int = 0
    waits: bool = False
    marker: str | None = None
    marker_at: int | None = None
    allow_truncated: bool = False
    mapping: Path | None = None


_ALL_OR_NONE = Options()


class _DryRunError(Exception):
    """Rolls back a dry run."""


def load(  # noqa: PLR0913 - three of them report progress
    store: Store,
    paths: Sequence[Path],
    *,
    account_id: int | None,
    options: Options = _ALL_OR_NONE,
    advance: Advance = lambda _file, _done: None,
    tell: Tell = lambda _doing: None,
    note: Tell = lambda _sentence: None,
    by: audit.Actor | None = None,
) -> Loaded:
    """Import the files of ``paths`` (files and folders).

    New rows are inserted, existing rows updated, by key. A column that a file lacks is unchanged,
    nothing is removed, and personal data of erased subscribers stays blank. Invalid rows prevent
    the import. The ``options`` change that. ``advance`` is called with a file and the number of
    bytes read, ``tell`` with each later step, ``note`` with what was detected about a file. ``by``
    is written to the audit log and to the record of loads.

    Raises BadInput, which lists the problems as ``file:line: column: sentence``, and BadUsage;
    MastheadError if another load of the account runs and this one does not wait; StoreUnavailable
    if the database was migrated meanwhile.
    """
    reject, is_dry = options.reject, options.is_dry
    recorded = partial(loads.recorded, waits=options.waits, marker_at=options.marker_at)
    try:
        files = find_inputs(paths, options.mapping, marker=options.marker)
    except BadInput:
        if account_id is None or is_dry:
            raise
        with recorded(store, account_id, list(map(str, paths)), by):
            raise
    account_files = [f for f in files if isinstance(f, InputFile) and f.table is ACCOUNTS]
    data_files = [file for file in files if file not in account_files]
    if data_files and account_id is None:
        raise BadUsage(f"{data_files[0].label}: say whose data it is", code="whose_data")
    if account_files and data_files:
        raise BadUsage("load accounts first, by themselves; then the data of each account")
    if reject:
        _check_folder(reject, files)
    if account_files:
        _check_options_of_accounts(options)
        ready = [file for file in prepared(account_files, note) if isinstance(file, InputFile)]
        return Loaded(load_accounts(store, ready, by, allow_truncated=options.allow_truncated), {})
    assert account_id is not None
    epochs.follow_history(store, account_id, waits=True)
    loading = _Loading(store, account_id, data_files, options, advance, tell, note)
    if is_dry:
        return loading.run_dry()
    labels = [file.label for file in data_files]
    with recorded(store, account_id, labels, by) as record:
        return loading.run(record, by)


def _check_options_of_accounts(options: Options) -> None:
    """Raise BadUsage for an option that a load of accounts does not have."""
    if options.reject:
        raise BadUsage(
            "accounts are loaded all or nothing: their bad rows cannot be set aside",
            code="accounts_all_or_nothing",
        )
    if options.is_dry:
        raise BadUsage("accounts have no dry run", code="accounts_not_dry")
    if options.max_removed:
        raise BadUsage(
            "a file of accounts removes none: remove an account by itself",
            code="accounts_remove_none",
        )


def _check_folder(reject: Path, files: Sequence[Input]) -> None:
    """Raise BadUsage if rejected rows could overwrite an import file."""
    for file in files:
        if reject.resolve() in file.path.resolve().parents[:2]:
            raise BadUsage(
                f"rejected rows cannot go to {reject}: {file.label} stands there; choose another "
                "folder"
            )


@dataclass
class _Loading:
    """A load into an account: its files and options, and its steps."""

    store: Store
    account_id: int
    files: Sequence[Input]
    options: Options
    advance: Advance
    tell: Tell
    note: Tell
    _rows_read: dict[int, int] = field(default_factory=dict)

    def run(self, record: loads.Recording, by: audit.Actor | None) -> Loaded:
        """Load the files, and record that the load succeeded."""
        with self.store.writer() as connection:
            with staging_for(connection, self.account_id) as staging:
                keys = self._stage(staging)
                with connection.transaction():
                    merged, loaded = self._merge(staging, keys)
                    summary = _summary(loaded, is_complete=self.options.max_removed is not None)
                    audit.record(connection, by, summary, account_id=self.account_id)
                    counts = {name: count._asdict() for name, count in loaded.counts.items()}
                    record.note_good(connection, counts, sum(loaded.rejected.values()))
            commits.stamp_commits(self.store, self.account_id)
            for table in merged.grown:
                connection.analyze(table)
        counted = merged.counts
        has_erased = ERASURES.name in counted and counted[ERASURES.name].inserted
        if has_erased and any(count.changed for count in counted.values()):
            self.tell("taking traces away")
            self.store.vacuum_after_erase()
        return loaded

    def run_dry(self) -> Loaded:
        """Do everything except the commit; return the same result, with rows to show."""
        loaded = None
        with self.store.writer() as connection, staging_for(connection, self.account_id) as staging:
            accounts.settings_of(connection, self.account_id)
            keys = self._stage(staging)
            with suppress(_DryRunError), connection.transaction():
                _, loaded = self._merge(staging, keys)
                raise _DryRunError
        assert loaded
        return loaded

    def _stage(self, staging: Staging) -> NaturalKeys:
        """Stage the files, and return the natural keys of their rows."""
        self.files = prepared(self.files, self.note)
        keys = NaturalKeys(staging)
        with staging.filling():
            for number, file in enumerate(self.files):
                self._rows_read[number] = self._stage_file(staging, keys, number, file)
        self.tell("waiting for other writers")
        return keys

    def _stage_file(self, staging: Staging, keys: NaturalKeys, number: int, file: Input) -> int:
        """Stage the rows of a file, and note what is doubtful; return their number."""
        first = number * NUMBERS_PER_FILE
        is_mapped = isinstance(file, MappedFile)

        def column_of(part: int, column: str) -> str:
            return file.column_of(Problem(first + is_mapped + part, 0, column, ""))

        doubts = Doubts(file.label, column_of, is_cleaned=is_mapped)
        if isinstance(file, InputFile):
            return self._stage_plain(staging, first, file, doubts)
        return self._stage_mapped(staging, keys, first, file, doubts)

    def _stage_plain(self, staging: Staging, number: int, file: InputFile, doubts: Doubts) -> int:
        """Stage the rows of a file of one table; return their number."""
        rows = 0
        has_header = file.format != "ndjson"
        for batch in read_batches(file, allow_truncated=self.options.allow_truncated):
            rows += len(batch.lines) + len(batch.unreadable)
            records = without_others(batch, file.table.key) if has_header else batch
            doubts.look(0, file.table, records)
            _add(staging, number, file.table, check_batch(file.table, records))
            self.advance(file, batch.done)
        self._warn(doubts)
        return rows

    def _stage_mapped(
        self, staging: Staging, keys: NaturalKeys, number: int, file: MappedFile, doubts: Doubts
    ) -> int:
        """Stage the records of a mapped file; return the number of its rows."""
        rows = 0
        has_header = file.format != "ndjson"
        settings = accounts.settings_of(staging.connection, self.account_id)
        mapper = Mapper(file, keys, str(settings["time_zone"]))
        used, keys_of_rows = file.mapping.columns(), key_columns(file.mapping)
        first_alone: tuple[int, str] | None = None
        alone = 0
        for batch in source_batches(
            file.path, file.label, file.said, allow_truncated=self.options.allow_truncated
        ):
            rows += len(batch.lines) + len(batch.unreadable)
            records = without_others(batch, keys_of_rows) if has_header else batch
            lone = lone_cells(records, used) if has_header else {}
            reported, loaded = Reported(), set[int]()
            for part, table, mapped, reads in mapper.batches(records):
                doubts.look(part, table, mapped)
                checked = check_batch(table, mapped, reads)
                problems = [
                    problem
                    for problem in checked.problems
                    if reported.is_new(problem[0], file.columns_of(part, problem[1]), problem[2])
                ]
                _add(staging, number + 1 + part, table, checked._replace(problems=problems))
                loaded.update(mapped.lines)
                for line, *_ in problems:
                    lone.pop(line, None)
            found = [(line, value) for line, value in lone.items() if line in loaded]
            first_alone = first_alone or next(iter(found), None)
            alone += len(found)
            self.advance(file, batch.done)
        self._warn(doubts)
        if count := mapper.left_out:
            self.note(f"{file.label}: rows that `only` and `except` leave out: {count}")
        if first_alone:
            self.note(f"warning: {told_alone(file.label, *first_alone, alone)}")
        return rows

    def _warn(self, doubts: Doubts) -> None:
        for warning in doubts.warnings():
            self.note(f"warning: {warning}")

    def _merge(self, staging: Staging, keys: NaturalKeys) -> tuple[Merged, Loaded]:
        """Check and write the staged rows in the caller's transaction."""
        staging.connection.lock_account(self.account_id)
        self.store.check_schema(staging.connection)  # files and markers take long
        accounts.settings_of(staging.connection, self.account_id)  # the account may be gone
        self.tell("checking")
        max_removed, rejects = self.options.max_removed, self.options.reject is not None
        kept_blank = imports.check(staging)
        removal = find_missing(staging, self.files, rejects=rejects) if max_removed else None
        staged_checks.check(staging, discard=rejects)
        problem_count = staging.problem_count()
        if self.options.reject is None and problem_count:
            # The rollback removes the problems from the database.
            problems = list(staging.problems(PROBLEMS_SHOWN_MAX))
            shown = with_keys(self.files, keys, problems)
            message = listed(
                self.files, shown, problem_count, "correct the rows, or set them aside"
            )
            brief = first_place(self.files, problems[0], problem_count)
            raise BadRows(message, brief, code="bad_rows")
        if removal and max_removed:
            check_brake(removal, max_removed)
        rejected = self._set_aside(staging, self.options.reject) if self.options.reject else {}
        labels = [file.label for file in self.files]
        show = self.options.show
        rows = dry_run_diff.rows(staging, labels, show, removal) if show else ()
        keys.keep()
        merged = imports.merge(self.store, staging, self.tell, removal)
        kept = removal.kept if removal else {}
        return merged, Loaded(merged.counts, rejected, kept_blank, rows, kept)

    def _set_aside(self, staging: Staging, folder: Path) -> dict[str, int]:
        """Write the rejected rows, and return their number by file; raise BadInput if too many.

        A dry run only counts them.
        """
        counts = staging.rejected_rows()
        if self.options.is_dry:
            written = {self.files[number].label: count for number, count in counts.items()}
        else:
            written = write_rejects(folder, self.files, staging)
        limit = self.options.max_rejected
        over = [
            f"{self.files[number].label}: {count} of {self._rows_read[number]} rows are bad, and "
            f"the limit is {limit.text}"
            for number, count in counts.items()
            if limit and not limit.allows(count, self._rows_read[number])
        ]
        if over:
            place = "" if self.options.is_dry else f"look at the bad rows in {folder}, "
            advice = f"nothing was loaded; {place}correct them, or allow more"
            raise BadInput("\n".join([*over, advice]), code="too_many_rejected")
        return written


def _summary(loaded: Loaded, *, is_complete: bool) -> str:
    inserted = sum(count.inserted for count in loaded.counts.values())
    changed = sum(count.changed for count in loaded.counts.values())
    removed = sum(count.removed for count in loaded.counts.values())
    rejected = sum(loaded.rejected.values())
    kept = sum(loaded.kept.values())
    return (
        f"{inserted} rows inserted, {changed} changed, "
        f"{f'{removed} removed, ' if is_complete else ''}"
        f"{f'{kept} kept, ' if kept else ''}{rejected} set aside, "
        f"{loaded.kept_blank} kept blank"
    )


def _add(staging: Staging, number: int, table: Table, checked: CheckedBatch) -> None:
    staging.add(table, number, checked.columns, checked.rows, checked.masks)
    staging.refuse(Problem(number, *problem) for problem in checked.problems)
    staging.refuse_keys(table, number, checked.refused_keys)
