"""The three forms of the tests: short, long and every.

- The short form is ``make test``. ``.ci/run`` adds the slow tests (``SLOW``) and the long tests of
  a few files (``LONG_IN_CI``): ``pytest --ci``.
- The long form (``pytest --long``) also runs what is too slow to repeat whenever a line changes, or
  nearly the same as another test: ``ONLY_LONG``, and the second database of ``SHORT_ON_SQLITE``.
  ``make prove-tests`` runs only what it adds to the short form.
- Every test (``pytest --every``) runs in ``make prove-every``: also on PostgreSQL where the kind of
  database hardly matters (``FOLDERS_ON_SQLITE``, ``FILES_ON_SQLITE``, ``LONG_ON_SQLITE``, and other
  ASGI servers), and with many more cases.

The short and the long form try the same number of cases. Hypothesis has its numbers in
``EXAMPLES``, or in ``examples`` for a test that needs its own; other tests ask one of the
options in ``CASES``, and are marked with ``MORE_WITH_EVERY``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, is_hypothesis_test, settings

if TYPE_CHECKING:
    from collections.abc import Callable

ONLY_LONG = pytest.mark.only_long
ONLY_EVERY = pytest.mark.only_every
MORE_WITH_EVERY = pytest.mark.more_with_every
ONE_SERVER = pytest.mark.one_server

_RUNS_ON_CITUS = pytest.mark.only_every("test-citus runs it on PostgreSQL")
_HAS_NEIGHBOUR = pytest.mark.only_long("its neighbour on SQLite is in the short form")

SHORT_ON_SQLITE = pytest.mark.parametrize(
    "store",
    ["sqlite", pytest.param("postgresql", marks=_HAS_NEIGHBOUR)],
    indirect=True,
    scope="session",
)
"""For what says nearly the same on both kinds of database: the long form has both."""

LONG_ON_SQLITE = pytest.mark.parametrize(
    "store",
    ["sqlite", pytest.param("postgresql", marks=ONLY_EVERY)],
    indirect=True,
    scope="session",
)
"""The same, where only ``--every`` has both."""

FILES_SHORT_ON_SQLITE = {
    "api/test_changes.py",
    "api/test_login.py",
    "api/test_login_digests.py",
    "api/test_login_limits.py",
    "api/test_orders.py",
    "api/test_rotation.py",
    "api/test_what_changes.py",
    "billing/test_bank_splits.py",
    "billing/test_billing_settings.py",
    "billing/test_example.py",
    "billing/test_found_by_the_model.py",
    "billing/test_invoice_documents.py",
    "billing/test_issue_sheets.py",
    "billing/test_letter_documents.py",
    "billing/test_reader_mails.py",
    "billing/test_reminder_letters.py",
    "circulation/test_carrying.py",
    "circulation/test_disputes.py",
    "circulation/test_earlier_orders.py",
    "circulation/test_ended_items.py",
    "circulation/test_erasure_settlement.py",
    "circulation/test_example.py",
    "circulation/test_files_beside.py",
    "circulation/test_interface.py",
    "circulation/test_letters.py",
    "circulation/test_many_orders.py",
    "circulation/test_moving.py",
    "circulation/test_personal_books.py",
    "circulation/test_reader_logins.py",
    "circulation/test_replacements.py",
    "console/test_acts.py",
    "console/test_bank_file.py",
    "console/test_consents.py",
    "console/test_counting.py",
    "console/test_limits.py",
    "console/test_mail.py",
    "console/test_reader.py",
    "console/test_readers_pages.py",
    "console/test_reminders_page.py",
    "console/test_responses.py",
    "docs/test_units.py",
    "loading/test_brake.py",
    "loading/test_deliveries.py",
    "loading/test_limits.py",
    "loading/test_links.py",
    "loading/test_rejects.py",
    "qualification/test_adding.py",
    "qualification/test_commands.py",
    "qualification/test_removals.py",
    "qualification/test_reports_stay.py",
    "readers/test_forged.py",
    "readers/test_languages.py",
    "readers/test_links.py",
    "readers/test_paths.py",
    "readers_books/test_asking.py",
    "readers_books/test_cancellation_letters.py",
    "readers_books/test_confirmations.py",
    "readers_books/test_faults.py",
    "readers_books/test_home.py",
    "readers_books/test_previews.py",
    "readers_pages/test_attacks.py",
    "readers_pages/test_details.py",
    "readers_pages/test_documents.py",
    "readers_pages/test_qualifying.py",
}
"""The same for whole files: other files of the short form run their statements on both, apart from
statements of the tests themselves and the same statement with other columns (decisions, "Which
tests `make test` leaves out")."""

FILES_ON_CITUS = {
    "api/test_tenants.py",
    "billing/test_automatic_renewals.py",
    "billing/test_bank_imports.py",
    "billing/test_closed_months.py",
    "billing/test_credit_notes.py",
    "billing/test_debit_cancelling.py",
    "billing/test_debit_returns.py",
    "billing/test_debit_runs.py",
    "billing/test_held_addresses.py",
    "billing/test_journal.py",
    "billing/test_letters.py",
    "billing/test_mail_sending.py",
    "billing/test_order_tax.py",
    "billing/test_outbox.py",
    "billing/test_payer_statements.py",
    "billing/test_payments.py",
    "billing/test_reminders.py",
    "billing/test_renewing.py",
    "billing/test_renewing_list.py",
    "circulation/test_closing.py",
    "circulation/test_new_readers.py",
    "circulation/test_opening.py",
    "circulation/test_operation.py",
    "circulation/test_orders.py",
    "circulation/test_reopening.py",
    "circulation/test_reports.py",
    "circulation/test_who_is_who.py",
    "console/test_sent_again.py",
    "loading/test_cleaning.py",
    "loading/test_complete.py",
    "loading/test_doubts.py",
    "loading/test_dry_run.py",
    "loading/test_erased.py",
    "loading/test_erasing.py",
    "loading/test_export.py",
    "loading/test_import.py",
    "loading/test_natural_keys.py",
    "loading/test_tenants.py",
    "qualification/test_audit_report.py",
    "qualification/test_example.py",
    "qualification/test_going_on.py",
    "qualification/test_serving.py",
    "readers/test_operations_of_the_role.py",
    "store/test_removing.py",
}
"""Files whose tests run on SQLite and, as `make test-citus`, on Citus, which is a PostgreSQL that
refuses more. Only ``--every`` also runs them on a single PostgreSQL server, except those that
Citus cannot run (``ONE_SERVER``)."""

SLOW = frozenset((Path(__file__).parent / "slow.txt").read_text("utf-8").split())
"""Test functions that ``.ci/run`` adds to the short form, by their node ids: a few of all, which
take half of the time. ``python -m tests.house.slow`` writes the list from the durations of runs.
They run in the short form, too, if the command line names their file or a test of it."""

LONG_IN_CI = {
    "billing/test_numbers.py",
    "circulation/test_killed.py",
    "circulation/test_two_operators.py",
    "docs/test_commands.py",
    "loading/test_interruptions.py",
    "qualification/test_killed.py",
}
"""Files whose long tests run in ``.ci/run``, too (decisions, "Which tests CI runs"): what happens
when processes are killed or two write at once, and the commands of the docs."""

LEFT_OUT_ON_CITUS = frozenset(
    (Path(__file__).parent / "left_out_on_citus.txt").read_text("utf-8").splitlines()
)
"""Tests, and functions with all of their tests, of which other tests on Citus run each statement:
their node ids (decisions, "Which tests run on Citus, too"). ``make statements`` writes the list. If
only Citus has a second database for the file (``FILES_ON_CITUS``), that of such a test is one
PostgreSQL server, in the long form."""

ON_BOTH = pytest.mark.parametrize("store", ["sqlite", "postgresql"], indirect=True, scope="session")
"""For what differs between them, among others that do not."""

FOLDERS_ON_SQLITE = {
    *("bank_files", "cli", "client", "documents", "hostile", "mirror", "pipelines", "system"),
}
"""Tests of commands, HTTP, clients, documents, files of banks, the mirror and pipelines: whether
the service has the other kind of database says little new, and tests/store, tests/loading and
tests/postgresql say it."""

FILES_ON_SQLITE = {
    "billing/test_billing_commands.py",
    "billing/test_journal_commands.py",
    "checker/test_masthead.py",
    "circulation/test_catalogue_commands.py",
    "circulation/test_order_commands.py",
    "circulation/test_telephone_commands.py",
    "console/test_forged.py",
    "console/test_forms.py",
    "console/test_mail_file.py",
    "console/test_money.py",
    "console/test_names_in_refusals.py",
    "console/test_order_form.py",
    "console/test_payments_came.py",
    "console/test_refusals.py",
    "console/test_session_ended.py",
    "console/test_sessions.py",
    "console/test_sign_in.py",
    "console/test_twice.py",
    "loading/test_any_bytes.py",
    "loading/test_cut_off.py",
    "loading/test_files.py",
    "loading/test_formats.py",
    "loading/test_guess.py",
    "loading/test_mapped_rows.py",
    "loading/test_mapping.py",
    "loading/test_problems.py",
    "loading/test_said_by_mappings.py",
    "loading/test_table_place.py",
    "loading/test_xlsx.py",
    "api/test_compression.py",
    "api/test_dates.py",
    "api/test_docs_page.py",
    "api/test_errors.py",
    "api/test_home_page.py",
    "api/test_logs_of_app.py",
    "api/test_parameters.py",
    "api/test_schemathesis.py",
    "api/test_snapshot_lines.py",
    "api/test_temporary_files.py",
}
"""Tests of what happens before a row comes to the database, and of commands and pages whose
statements other tests run on both kinds: those of their operations, console/test_responses.py,
which asks for each page, and console/test_sent_again.py, which sends each form."""

CASES = {
    "schedules": (12, 100),
    "sequences": (10, 80),
    "rounds": (1, 1),
    "leaving": (400, 400),
    "cases": (200, 400),
}
"""For each option that counts cases: how many there are, without and with ``--every``."""

EXAMPLES = (25, 500)
"""How many examples Hypothesis tries of a test that does not say so itself, the same way."""

Test = TypeVar("Test", bound="Callable[..., None]")

_has_every = False


def add_options(parser: pytest.Parser) -> None:
    """Let the long forms be asked for, and any number of cases."""
    group = parser.getgroup("what takes long (make prove)")
    group.addoption(
        "--ci", action="store_true", help="run the slow tests, too, and what else .ci/run adds"
    )
    group.addoption("--long", action="store_true", help="run what the short form leaves out, too")
    group.addoption(
        "--every", action="store_true", help="run everything, with many cases; hours (make prove)"
    )
    for name, of_what in (
        ("schedules", "of loads, polls and crashes"),
        ("sequences", "of operations of circulation"),
        ("rounds", "in which processes are killed"),
        ("leaving", "of the clients that leave"),
        ("cases", "of hostile requests and import files"),
    ):
        group.addoption(f"--{name}", type=int, help=f"{of_what}: {CASES[name]}")
    group.addoption("--minutes", type=float, default=0, help="of the proof of endurance")
    group.addoption("--seed", type=int, default=1, help="of the rounds and of who leaves")


def choose(config: pytest.Config) -> None:
    """Take the form that was asked for; called before any test is imported.

    Without ``--every``, a test by Hypothesis tries the same examples each time, and reports a
    failing one as it is (decisions, "Which examples CI tries").
    """
    global _has_every  # noqa: PLW0603 - decorators have no other place for it
    _has_every = config.option.every
    for name, numbers in CASES.items():
        if getattr(config.option, name) is None:
            setattr(config.option, name, numbers[_has_every])
    settings.register_profile(
        "masthead",
        deadline=None,
        max_examples=EXAMPLES[_has_every],
        derandomize=not _has_every,
        phases=[*Phase] if _has_every else [Phase.explicit, Phase.generate],
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    settings.load_profile("masthead")


def examples(few: int, many: int) -> Callable[[Test], Test]:
    """Let Hypothesis try few examples of a test, and many with ``--every``."""
    return settings(max_examples=many if _has_every else few)


def left_out(
    items: list[pytest.Item], config: pytest.Config, *, with_neighbours: bool
) -> list[pytest.Item]:
    """Mark what only some forms have; return the items that the form does not run.

    ``with_neighbours`` keeps the second database of ``SHORT_ON_SQLITE`` and ``FILES_ON_CITUS`` in
    the short form, and the slow tests.
    """
    for item in items:
        if isinstance(item, pytest.Function) and is_hypothesis_test(item.obj):
            item.add_marker(MORE_WITH_EVERY)
        if _has_neighbour_on_sqlite(item) and (mark := _beside_sqlite(item)):
            item.add_marker(mark)
    if config.option.every:
        return []
    kept = {_HAS_NEIGHBOUR.mark.args, _RUNS_ON_CITUS.mark.args} if with_neighbours else set()
    has_slow = config.option.ci or config.option.long or with_neighbours
    named = {Path(argument.partition("::")[0]).name for argument in config.args}
    return [
        item
        for item in items
        if any(
            mark.args not in kept
            for name in ("only_every", *(() if _has_long(item, config) else ("only_long",)))
            for mark in item.iter_markers(name)
        )
        or (not has_slow and item.path.name not in named and is_slow(item))
    ]


def is_slow(item: pytest.Item) -> bool:
    """Return whether a test is one of ``SLOW``."""
    return _function_of(item) in SLOW


def is_left_out_on_citus(item: pytest.Item) -> bool:
    """Return whether a test is one of ``LEFT_OUT_ON_CITUS``."""
    return not LEFT_OUT_ON_CITUS.isdisjoint({_function_of(item), item.nodeid})


def choose_databases(metafunc: pytest.Metafunc, *, on_citus: bool) -> None:
    """Make a test only for the kinds of database that the form runs it on.

    ``left_out`` would leave out the others, but to make them takes each process of the tests a
    second.
    """
    test, options = metafunc.definition, metafunc.config.option
    if "store" not in metafunc.fixturenames or options.every or _chooses_store(test):
        return
    if on_citus:
        kinds = ["postgresql"]
    elif (mark := _beside_sqlite(test)) and not (
        mark is _HAS_NEIGHBOUR and _has_long(test, metafunc.config)
    ):
        kinds = ["sqlite"]
    else:
        return
    # A mark, and not metafunc.parametrize: the fixture would add its own kinds to those.
    test.add_marker(pytest.mark.parametrize("store", kinds, indirect=True, scope="session"))


def _has_long(item: pytest.Item, config: pytest.Config) -> bool:
    """Whether the long tests of the file of a test were asked for."""
    return config.option.long or (config.option.ci and _file_of(item) in LONG_IN_CI)


def _beside_sqlite(item: pytest.Item) -> pytest.MarkDecorator | None:
    """Return the mark of the second database of a test; none if the short form has it."""
    if _is_near_sqlite(item):
        return ONLY_EVERY
    if _file_of(item) in FILES_ON_CITUS and is_left_out_on_citus(item):
        return _HAS_NEIGHBOUR
    if _runs_on_citus(item):
        return _RUNS_ON_CITUS
    return _HAS_NEIGHBOUR if _file_of(item) in FILES_SHORT_ON_SQLITE else None


def _chooses_store(item: pytest.Item) -> bool:
    return any(mark.args[0] == "store" for mark in item.iter_markers("parametrize"))


def _has_neighbour_on_sqlite(item: pytest.Item) -> bool:
    chosen = item.callspec.params if hasattr(item, "callspec") else {}
    return chosen.get("store") == "postgresql" and not _chooses_store(item)


def _is_near_sqlite(item: pytest.Item) -> bool:
    """Whether the neighbour of a test on SQLite says the same."""
    chosen = item.callspec.params if hasattr(item, "callspec") else {}
    is_on_another_server = chosen.get("served_by", "masthead") != "masthead"
    is_in_folder = item.path.parent.name in FOLDERS_ON_SQLITE
    return is_on_another_server or is_in_folder or _file_of(item) in FILES_ON_SQLITE


def _runs_on_citus(item: pytest.Item) -> bool:
    others = ("one_server", "only_long")
    return _file_of(item) in FILES_ON_CITUS and not any(map(item.get_closest_marker, others))


def _function_of(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _file_of(item: pytest.Item) -> str:
    return _end_of(item.path)


@cache
def _end_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
