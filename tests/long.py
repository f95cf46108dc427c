"""The short form of a test (``make test``) and its long form (``make prove-tests``).

`pytest --long` runs the long forms. Tests by Hypothesis have both, with more examples in the long
one (``EXAMPLES``, or ``examples`` for a test that needs its own numbers). A test that asks an
option for the number of its cases is marked with ``LONG``. A test that says nothing new as often
as somebody changes a line, or has neighbours that say nearly the same, is marked with ``ONLY_LONG``
and is left out of the short form.

In the short form the tests in ``FOLDERS_ON_SQLITE``, ``FILES_ON_SQLITE`` and
``FILES_NEAR_THE_STORE`` have their services on SQLite alone, and so have those on other ASGI
servers: other folders test what differs by the kind of database. Where the kind is far away from
what is tested, the long form leaves PostgreSQL out too: ``pytest --long --every`` (`make
prove-every`) has all there is, and tries five times as many examples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

if TYPE_CHECKING:
    from collections.abc import Callable

LONG = pytest.mark.long
ONLY_LONG = pytest.mark.only_long
HAS_NEIGHBOUR = pytest.mark.only_long("its neighbour on SQLite is in the short form")
HAS_FAR_NEIGHBOUR = pytest.mark.only_every("its neighbour on SQLite says the same")
ONLY_EVERY = pytest.mark.only_every("another target of the Makefile runs it")
ONE_SERVER = pytest.mark.one_server
SHORT_ON_SQLITE = pytest.mark.parametrize(
    "store",
    ["sqlite", pytest.param("postgresql", marks=HAS_NEIGHBOUR)],
    indirect=True,
    scope="session",
)
"""For what says the same on both kinds of database: the short form has one of them."""

ON_BOTH = pytest.mark.parametrize("store", ["sqlite", "postgresql"], indirect=True, scope="session")
"""For what differs between them, among others that do not."""

LONG_ON_SQLITE = pytest.mark.parametrize(
    "store",
    ["sqlite", pytest.param("postgresql", marks=HAS_FAR_NEIGHBOUR)],
    indirect=True,
    scope="session",
)
"""The same, where the long form has one of them too."""

FOLDERS_ON_SQLITE = {"cli", "client", "hostile", "mirror"}
FILES_ON_SQLITE = {
    f"test_{name}.py"
    for name in ("any_bytes", "cut_off", "files", "formats", "guess", "mapped_rows", "xlsx")
}
"""Of tests/loading: what they say happens before a row comes to the database."""

FILES_NEAR_THE_STORE = {
    "checker/test_masthead.py",
    "circulation/test_catalogue_commands.py",
    "circulation/test_order_commands.py",
    "circulation/test_telephone_commands.py",
    "console/test_forged.py",
    "console/test_forms.py",
    "console/test_refusals.py",
    "console/test_sessions.py",
    "console/test_sign_in.py",
    "loading/test_mapping.py",
    "loading/test_problems.py",
    "api/test_compression.py",
    "api/test_dates.py",
    "api/test_docs_page.py",
    "api/test_errors.py",
    "api/test_home_page.py",
    "api/test_logs_of_app.py",
    "api/test_parameters.py",
    "api/test_snapshot_lines.py",
    "api/test_temporary_files.py",
}
"""Those whose statements other tests of the short form try on PostgreSQL too: what commands and
pages make of it there, the long form says."""

_FAR_FOLDERS = {"cli", "client", "hostile"}
"""Their tests are of commands, of HTTP and of the client: the second database says little new, and
tests/store, tests/loading and tests/postgresql say it too."""

_FILES_OF_COPIES = {"duckdb", "parquet"}
"""Kinds of copy whose mirror has the same service before it, whichever database that has."""

FORMS = {
    "schedules": (12, 100),
    "sequences": (10, 80),
    "rounds": (1, 1),
    "leaving": (400, 400),
    "cases": (200, 400),
}
"""For each option that counts cases: how many there are in the short form and in the long one."""

EXAMPLES = (25, 100)
"""How many examples Hypothesis tries of a test that does not say so itself, in either form."""

TIMES_WITH_EVERY = 5
"""So many times the examples of the long form are tried with ``--every``."""

Test = TypeVar("Test", bound="Callable[..., None]")

_is_long = False
_times = 1


def add_options(parser: pytest.Parser) -> None:
    """Let the long forms be asked for, and any number of cases."""
    group = parser.getgroup("what takes long (make prove)")
    group.addoption("--long", action="store_true", help="run the long form of each test")
    group.addoption(
        "--every", action="store_true", help="with --long: on every database, and more examples"
    )
    for name, of_what in (
        ("schedules", "of loads, polls and crashes"),
        ("sequences", "of operations of circulation"),
        ("rounds", "in which processes are killed"),
        ("leaving", "of the clients that leave"),
        ("cases", "of hostile requests and import files"),
    ):
        group.addoption(f"--{name}", type=int, help=f"{of_what}: {FORMS[name]}")
    group.addoption("--minutes", type=float, default=0, help="of the proof of endurance")
    group.addoption("--seed", type=int, default=1, help="of the rounds and of who leaves")


def choose(config: pytest.Config) -> None:
    """Take the form that was asked for; called before any test is imported."""
    global _is_long, _times  # noqa: PLW0603 - decorators have nobody else to ask
    _is_long = config.option.long
    _times = TIMES_WITH_EVERY if config.option.every else 1
    for name, forms in FORMS.items():
        if getattr(config.option, name) is None:
            setattr(config.option, name, forms[_is_long])
    settings.register_profile(
        "masthead",
        deadline=None,
        max_examples=EXAMPLES[_is_long] * _times,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    settings.load_profile("masthead")


def examples(few: int, many: int) -> Callable[[Test], Test]:
    """Let Hypothesis try a few examples in the short form of a test, and many in the long one."""
    return settings(max_examples=many * _times if _is_long else few)


def left_out(
    items: list[pytest.Item], *, with_neighbours: bool, with_every: bool
) -> list[pytest.Item]:
    """Mark those that only a longer form has; return those that the form does not run.

    ``with_neighbours`` keeps those whose neighbours on SQLite are in the short form; ``with_every``
    is whether ``--every`` was asked for.
    """
    for item in items:
        if isinstance(item, pytest.Function) and is_hypothesis_test(item.obj):
            item.add_marker(LONG)
        if _has_neighbour_on_sqlite(item):
            item.add_marker(HAS_FAR_NEIGHBOUR if _is_far(item) else HAS_NEIGHBOUR)
    far = [item for item in items if not with_every and item.get_closest_marker("only_every")]
    if _is_long:
        return far
    kept = HAS_NEIGHBOUR.mark.args if with_neighbours else None
    return far + [
        item for item in items if any(mark.args != kept for mark in item.iter_markers("only_long"))
    ]


def _is_far(item: pytest.Item) -> bool:
    is_on_another_server = not _is_on_our_server(item)
    is_there = item.path.parent.name in _FAR_FOLDERS or item.path.name in FILES_ON_SQLITE
    chosen = item.callspec.params if hasattr(item, "callspec") else {}
    is_in_files = chosen.get("new_kept") in _FILES_OF_COPIES
    return is_on_another_server or is_there or is_in_files


def _is_on_our_server(item: pytest.Item) -> bool:
    chosen = item.callspec.params if hasattr(item, "callspec") else {}
    return bool(chosen.get("served_by", "masthead") == "masthead")


def _has_neighbour_on_sqlite(item: pytest.Item) -> bool:
    chosen = item.callspec.params if hasattr(item, "callspec") else {}
    by_itself = any(mark.args[0] == "store" for mark in item.iter_markers("parametrize"))
    if chosen.get("store") != "postgresql" or by_itself:
        return False
    folder = item.path.parent.name
    is_on_sqlite = folder in FOLDERS_ON_SQLITE or item.path.name in FILES_ON_SQLITE
    is_near = f"{folder}/{item.path.name}" in FILES_NEAR_THE_STORE
    return is_on_sqlite or is_near or not _is_on_our_server(item)
