"""A free title with many qualified readers: closing an issue, its audit report, and a sample.

The books are those of the benchmark of circulation, in which each reader is qualified and has no
term left. Closing is compared with the bare `INSERT … SELECT` of its rows, as there. One class has
a quota that it fills. Then the reports and a sample are timed.
"""

from collections.abc import Iterator

from benchmarks.circulation import Place, rounds_of, shown_closings
from benchmarks.circulation_data import ISSUES, make_books
from benchmarks.databases import STORES, connected, home_of, new_database, rows, settle
from benchmarks.machine import CLIENT_CORE, on_core
from benchmarks.publisher import ACCOUNT_ID
from benchmarks.report import Budget, Scale, shown, table
from masthead.store import open_store
from masthead.store.books.derived_values import refresh
from masthead.store.books.operation import operation

REPORT_S = Budget(at_most=60)
"""The report is counted when the file of an issue is written."""

_CLASSES = (("chief", None), ("engineer", 100_000), ("unclassified", None))
_QUESTIONS = (("job", 40), ("industry", 27), ("size", 7))
"""The questions, and how many options each has: together they have 7,560 different answers."""

_KEY = f"{ACCOUNT_ID}, n.subscription_id"


def _answers() -> str:
    """Return the SQL of a reader's answers, as they are stored."""
    answers = ",".join(
        f""""{900 + position}":{{"options":[' ||
        CAST({1_000 * position} + n.subscription_id % {count} AS TEXT) || '],"text":""}}"""
        for position, (_, count) in enumerate(_QUESTIONS, 1)
    )
    return f"'{{{answers}}}'"


def make_free(url: str) -> None:
    """Let each subscription of the books be qualified, and none have a term left."""
    statements = [
        "UPDATE terms SET issues_left = 0",
        f"""INSERT INTO qualification_forms (account_id, publication_id)
            VALUES ({ACCOUNT_ID}, 1)""",
        *(
            f"""INSERT INTO audit_classes (account_id, audit_class_id, publication_id, position,
                code, quota) VALUES ({ACCOUNT_ID}, {key}, 1, {key}, '{code}', {quota or "NULL"})"""
            for key, (code, quota) in enumerate(_CLASSES, 1)
        ),
        *(
            statement
            for position, (name, _) in enumerate(_QUESTIONS, 1)
            for statement in (
                f"""INSERT INTO custom_fields (account_id, field_id, name, type)
                VALUES ({ACCOUNT_ID}, {900 + position}, '{name}', 'radio')""",
                f"""INSERT INTO qualification_questions (account_id, publication_id, field_id,
                position) VALUES ({ACCOUNT_ID}, 1, {900 + position}, {position})""",
            )
        ),
        f"""
        INSERT INTO qualifications (account_id, qualification_id, subscriber_id, publication_id,
            subscription_id, qualified_on, valid_until, request_type, audit_class_id, answers,
            evidence, recorded_at)
        SELECT {_KEY}, n.subscriber_id, 1, n.subscription_id,
            CAST(2023 + n.subscription_id % 3 AS TEXT)
                || '-12-2' || CAST(n.subscription_id % 9 AS TEXT),
            CAST(2026 + n.subscription_id % 3 AS TEXT)
                || '-12-2' || CAST(n.subscription_id % 9 AS TEXT),
            CASE n.subscription_id % 2 WHEN 0 THEN 'web' ELSE 'written' END,
            1 + n.subscription_id % 3,
            {_answers()},
            '{{"call":"' || CAST(n.subscription_id AS TEXT) || '"}}', '2026-01-01 00:00:00'
        FROM subscriptions AS n ORDER BY n.subscription_id
        """,
        f"""
        INSERT INTO qualified_subscriptions (account_id, subscription_id, publication_id,
            qualification_id, audit_class_id, class_position, request_position, qualified_on,
            valid_until)
        SELECT {_KEY}, 1, n.qualification_id, n.audit_class_id, n.audit_class_id, 1,
            n.qualified_on, n.valid_until
        FROM qualifications AS n ORDER BY n.subscription_id
        """,
    ]
    with connected(url) as connection:
        for statement in statements:
            connection.execute(statement)
    settle(url)
    store = open_store(url)
    try:
        with operation(store, ACCOUNT_ID, None) as running:
            refresh(
                running, "SELECT subscription_id FROM subscriptions WHERE account_id = :account_id"
            )
    finally:
        store.close()
    settle(url)


def measure(scale: Scale) -> Iterator[str]:
    """Yield the tables of each store but Citus: the copy is made on one server."""
    for store in scale.stores:
        if store == "citus":
            continue
        with (
            on_core(CLIENT_CORE),
            home_of(store, core=CLIENT_CORE) as home,
            new_database(home, "free") as url,
        ):
            place = Place(home)
            make_books(url, scale.subscribers)
            make_free(url)
            yield f"{STORES[store]}\n"
            figures, entries = rounds_of(place, url, scale.rounds)
            yield shown_closings(place, url, figures, entries)
            settle(url)
            issue = str(ISSUES[scale.rounds])
            ((held,),) = rows(
                url, "SELECT count(*) FROM qualified_subscriptions WHERE lapsed_by IS NULL"
            )
            yield f"{held:,} qualifications are valid.\n"
            yield table(["command", "seconds", "peak, MiB"], [*_reports(place, url, issue)])


def _reports(place: Place, url: str, issue: str) -> Iterator[list[str]]:
    """Yield what the reports and a sample take."""
    account = ("--account", str(ACCOUNT_ID), "--database", url)
    for title, arguments in (
        ("`report audit`, counted now", ("report", "audit", issue)),
        ("`report press-run`", ("report", "press-run", issue)),
        ("`qualification sample`", ("qualification", "sample", issue, "--every", "1000")),
    ):
        taken = place.took(*arguments, *account)
        yield [title, shown([taken.seconds], 1, REPORT_S), f"{taken.peak_mib:.0f}"]
