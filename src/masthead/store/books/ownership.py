"""What files and ``masthead remove`` may still change in an account, by its mode.

In mode ``here``, operations own the issues and the money of subscriptions, deliveries, orders,
purchases and lists (circulation, "Two modes of an account"). In mode ``elsewhere``, an account has
no books; only a whole export brings them, into an account without subscribers.
"""

from collections.abc import Callable, Collection

from masthead.contract.records import ERASURES, TABLES, TABLES_BY_NAME
from masthead.errors import BadInput
from masthead.store.books.kept_records import HAS_BOOKS
from masthead.store.books.operation import mode_of
from masthead.store.staging import Staging, has_column

BOOKS = (
    "books",
    "terms",
    "revenue",
    "suspensions",
    "temporary_addresses",
    "replacements",
    "cancellations",
    "cancelled_terms",
    "renewals_sent",
    "billing",
    "billing_settings",
    "tax_rates",
    "shipping_prices",
    "payer_details",
    "invoices",
    "invoice_lines",
    "payments",
    "allocations",
    "journal_lines",
    "closed_months",
    "bank_files",
    "bank_entries",
    "mandates",
    "debit_runs",
    "claims",
    "reminder_levels",
    "reminders",
    "renewal_consents",
    "announced_renewals",
    "mails",
    "held_addresses",
    "letters",
    "qualification_forms",
    "qualification_questions",
    "audit_classes",
    "audit_class_conditions",
    "request_types",
    "qualifications",
    "qualified_subscriptions",
    "audit_figures",
    "requalification_efforts",
    "requalifications_sent",
)
"""The tables that only an account with open books has."""

OWNED = (
    *BOOKS,
    "subscriptions",
    "subscription_issues",
    "orders",
    "order_items",
    "purchases",
    "list_downloads",
    "mailing_list_entries",
    "notes",
    "complaints",
    "page_settings",
    "reader_changes",
    "reader_consents",
    "reader_requests",
)
"""The tables that operations own in mode ``here``."""

_OF_CLOSING = ("closed_at", "mailing_list_id", "file_written_at")
_ISSUES = TABLES_BY_NAME["issues"]
_SUBSCRIBERS = TABLES_BY_NAME["subscribers"]


def check_import(staging: Staging) -> None:
    """Refuse what a load may not write; runs in its transaction, before its rows are checked.

    Raises BadInput for tables that the load may not change. Stores a problem for each row of
    ``issues`` that would change what closing owns, and each row of ``subscribers`` that would
    change what merging owns.
    """
    given = [table.name for table in TABLES if table.name in staging.tables]
    given = [name for name in given if staging.count(TABLES_BY_NAME[name])]
    connection, account_id = staging.connection, staging.account_id
    if mode_of(connection, account_id) == "here":
        _refuse(account_id, [name for name in given if name in OWNED], "loaded from files")
        if _ISSUES.name in given:
            _check_issues(staging)
        if ERASURES.name in staging.tables:
            _check_erasures(staging)
        if _SUBSCRIBERS.name in given:
            _check_merged(staging)
        return
    of_books = [name for name in given if name in BOOKS]
    if not of_books:
        return
    if "books" not in given:
        raise BadInput(
            f"{', '.join(of_books)}: they belong to open books: load them with the file of books, "
            "as one export"
        )
    for name in ("books", "billing"):
        if name in given:
            key = f"{name}_id"
            sentence = f"'an account has one row of {name}: 1'"
            staging.find(TABLES_BY_NAME[name], key, sentence, f"s.{key} <> 1")
    if connection.row(
        "SELECT 1 FROM subscribers WHERE account_id = :account_id LIMIT 1", account_id=account_id
    ):
        raise BadInput(
            f"account {account_id} has subscribers already: books are loaded only as a whole "
            "export, into an account without any; the books of this account are opened",
            code="has_subscribers",
            account=account_id,
        )


def check_bundles(staging: Staging) -> None:
    """Raise BadInput for a bundle whose lines have prices that do not add up to its own.

    Runs after a load's rows are written, since a load may have only the bundle or only its lines. A
    bundle whose lines come with a later load has no lines yet.
    """
    if not {"bundles", "bundle_lines"} & staging.tables:
        return
    wrong = staging.rows(
        """
        SELECT b.bundle_id, b.price, CAST(sum(l.price) AS BIGINT) FROM bundles AS b
        JOIN bundle_lines AS l ON l.account_id = b.account_id AND l.bundle_id = b.bundle_id
        WHERE b.account_id = :account_id GROUP BY b.bundle_id, b.price
        HAVING b.price <> sum(l.price) ORDER BY b.bundle_id LIMIT 1
        """
    )
    if wrong:
        bundle_id, price, whole = wrong[0]
        raise BadInput(
            f"bundle {bundle_id} costs {price} cents, and the prices of its lines add up to "
            f"{whole}: they must be the same; nothing was changed, so load the bundle and its "
            "lines together"
        )


def check_removal(staging: Staging, names: Collection[str], keys: Callable[[str], str]) -> None:
    """Raise BadInput if the removal includes rows that operations own, closed issues, or readers.

    ``names`` are the tables with rows to remove; ``keys`` returns the query of their ids. Only
    readers who have issues, money or orders in the books are refused.
    """
    account_id = staging.account_id
    if mode_of(staging.connection, account_id) != "here":
        return
    _refuse(account_id, [name for name in names if name in OWNED], "removed")
    if _SUBSCRIBERS.name in names:
        has_books = HAS_BOOKS.format(subscriber="o.subscriber_id")
        kept = staging.rows(
            f"""
            SELECT o.subscriber_id FROM subscribers AS o WHERE o.account_id = :account_id
                AND o.subscriber_id IN ({keys(_SUBSCRIBERS.name)}) AND {has_books}
            ORDER BY o.subscriber_id LIMIT 1
            """
        )
        if kept:
            raise BadInput(
                f"subscriber {kept[0][0]} has issues, money or orders here, and stays; cancel what "
                "is left, or merge; nothing was changed"
            )
    if _ISSUES.name not in names:
        return
    closed = staging.rows(
        f"""
        SELECT o.issue_id FROM issues AS o WHERE o.account_id = :account_id
            AND o.closed_at IS NOT NULL AND o.issue_id IN ({keys(_ISSUES.name)})
        ORDER BY o.issue_id LIMIT 1
        """
    )
    if closed:
        raise BadInput(
            f"issue {closed[0][0]} is closed, and account {account_id} keeps its books here: what "
            "is closed is not removed; nothing was changed"
        )


def _refuse(account_id: int, names: Collection[str], what: str) -> None:
    if names:
        raise BadInput(
            f"{', '.join(names)}: account {account_id} keeps its books here (mode here), and only "
            f"operations change these: they are not {what}; nothing was changed"
        )


def _check_merged(staging: Staging) -> None:
    staging.find(
        _SUBSCRIBERS,
        "merged_into",
        "'only merging sets it: leave merged_into out'",
        f"""({has_column(_SUBSCRIBERS, "merged_into", "s")}) AND s.merged_into IS DISTINCT FROM (
            SELECT o.merged_into FROM subscribers AS o
            WHERE o.account_id = :account_id AND o.subscriber_id = s.subscriber_id)""",
    )


def _check_erasures(staging: Staging) -> None:
    """Store a problem for each reader to erase who has issues or money left."""
    staging.find(
        ERASURES,
        "subscriber_id",
        """'subscriber ' || s.subscriber_id || ' has issues or money left: refund or keep the '
            || 'money when you erase them here'""",
        """EXISTS (SELECT 1 FROM subscriptions AS o WHERE o.account_id = :account_id
                AND o.subscriber_id = s.subscriber_id AND o.cancelled_on IS NULL
                AND (o.issues <> 0 OR o.unearned_revenue <> '0.00'))
            AND NOT EXISTS (SELECT 1 FROM erasures AS e WHERE e.account_id = :account_id
                AND e.subscriber_id = s.subscriber_id)""",
    )


def _check_issues(staging: Staging) -> None:
    stored = """FROM issues AS o WHERE o.account_id = :account_id AND o.issue_id = s.issue_id"""
    for name in _OF_CLOSING:
        staging.find(
            _ISSUES,
            name,
            f"'only closing sets it: leave ' || '{name}' || ' out'",
            f"""({has_column(_ISSUES, name, "s")}) AND s.{name} IS DISTINCT FROM
                (SELECT o.{name} {stored})""",
        )
    for name in ("publication_id", "date", "name", "number"):
        staging.find(
            _ISSUES,
            name,
            "'issue ' || s.issue_id || ' is closed, and stays as it is'",
            f"""({has_column(_ISSUES, name, "s")}) AND EXISTS (
                SELECT 1 {stored} AND o.closed_at IS NOT NULL
                    AND o.{name} IS DISTINCT FROM s.{name})""",
        )
    newest = """(SELECT max(c.date) FROM issues AS c WHERE c.account_id = :account_id
        AND c.closed_at IS NOT NULL AND c.publication_id = coalesce(
            CASE WHEN {has} THEN s.publication_id END, (SELECT o.publication_id {stored})))"""
    newest = newest.format(has=has_column(_ISSUES, "publication_id", "s"), stored=stored)
    is_open = f"NOT EXISTS (SELECT 1 {stored} AND o.closed_at IS NOT NULL)"
    has_date = has_column(_ISSUES, "date", "s")
    date = f"CASE WHEN {has_date} THEN s.date ELSE (SELECT o.date {stored}) END"
    staging.find(
        _ISSUES,
        "date",
        "'missing: issues close in the order of their dates'",
        f"{is_open} AND ({date}) IS NULL",
    )
    staging.find(
        _ISSUES,
        "date",
        f"({date}) || ' is not after ' || {newest} || ', the date of the newest closed issue'",
        f"{is_open} AND ({date}) <= {newest}",
    )
    _check_days(staging, is_open)


def _check_days(staging: Staging, is_open: str) -> None:
    """Find the issues that would get the date of another issue of their publication.

    Dates say which issue comes first, so the commands of the catalogue refuse this too.
    """
    stored = "FROM issues AS o WHERE o.account_id = :account_id AND o.issue_id = s.issue_id"
    effective = [
        f"CASE WHEN {has_column(_ISSUES, name, 's')} THEN s.{name} ELSE (SELECT o.{name} {stored}) "
        f"END AS its_{name}"
        for name in ("publication_id", "date")
    ]
    rows = f"""SELECT e.*, row_number() OVER (
            PARTITION BY e.its_publication_id, e.its_date ORDER BY e.file, e.line) AS nth
        FROM (SELECT s.file, s.line, s.issue_id, {", ".join(effective)}
            FROM {staging.rows_of(_ISSUES.name)} AS s) AS e"""
    is_new = f"""NOT EXISTS (SELECT 1 {stored} AND o.publication_id = s.its_publication_id
        AND o.date = s.its_date)"""
    other = f"""FROM issues AS c WHERE c.account_id = :account_id AND c.issue_id <> s.issue_id
        AND c.publication_id = s.its_publication_id AND c.date = s.its_date
        AND c.closed_at IS NULL
        AND NOT {staging.has(_ISSUES.name, "n", "n.issue_id = c.issue_id")}"""
    staging.find(
        _ISSUES,
        "date",
        "'another issue of publication ' || s.its_publication_id || ' is of ' || s.its_date "
        "|| ' too, and dates say which issue comes first'",
        f"{is_open} AND {is_new} AND (s.nth > 1 OR EXISTS (SELECT 1 {other}))",
        rows=rows,
    )
