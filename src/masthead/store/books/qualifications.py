"""Qualifications of readers, and what follows from the newest one of each subscription.

Rows of ``qualifications`` are only added. What closing reads stands in ``qualified_subscriptions``
and follows from them (decisions, "The newest qualification"). The functions run in an operation
(``store.books.operation``) or in a reading of one.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from masthead.circulation.qualifying import Answer, Words, answers_of, class_of, shown
from masthead.store.books.derived_values import refresh
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_keys import listed
from masthead.store.books.qualification_forms import classes_of
from masthead.store.books.qualified_copies import CLASS_NOW
from masthead.store.key_lists import KeyLists

_KEYS, _CLASSES = "qualified_keys", "qualified_classes"
_IDS_MAX = 5_000

_LAPSED_BY = """
    (SELECT i.mailing_list_id FROM issues AS i
        WHERE i.account_id = :account_id AND i.publication_id = n.publication_id
            AND i.mailing_list_id IS NOT NULL AND i.closed_at IS NOT NULL
            AND i.date > n.valid_until
        ORDER BY i.date, i.issue_id LIMIT 1)
    """
"""The main list of the first issue that was closed and is later than the last day."""


class Qualification(NamedTuple):
    """That a reader qualified for a publication, and by what.

    ``audit_class`` and ``class_name`` are those by which it counted when it was added. ``served``
    and ``current_class`` are those of now, for the newest qualification of the subscription only;
    ``lapsed_by`` is the list whose closing noted that it lapsed. ``answers`` and ``evidence`` are
    JSON, None once the reader is erased.
    """

    qualification_id: int
    subscriber_id: int
    publication_id: int
    publication: str
    subscription_id: int | None
    qualified_on: str
    valid_until: str
    request_type: str
    request_name: str
    audit_class: str | None
    class_name: str | None
    disqualified: int
    answers: str | None
    taken_by: str | None
    evidence: str | None
    external_reference: str | None
    recorded_at: str
    is_current: int
    current_class: str | None
    served: int | None
    lapsed_by: int | None


class Held(NamedTuple):
    """A subscription that a qualification can be for."""

    subscription_id: int
    subscriber_id: int
    type: str | None


_COLUMNS = """
    q.qualification_id, q.subscriber_id, q.publication_id, coalesce(p.name, ''),
    q.subscription_id, q.qualified_on, q.valid_until, q.request_type,
    coalesce(r.name, q.request_type), c.code, c.name, q.disqualified, q.answers, q.taken_by,
    q.evidence, q.external_reference, q.recorded_at,
    CASE WHEN n.qualification_id = q.qualification_id THEN 1 ELSE 0 END, d.code,
    CASE WHEN n.qualification_id = q.qualification_id THEN n.served END,
    CASE WHEN n.qualification_id = q.qualification_id THEN n.lapsed_by END
    """
_FROM = """
    FROM qualifications AS q
    JOIN publications AS p
        ON p.account_id = :account_id AND p.publication_id = q.publication_id
    LEFT JOIN request_types AS r ON r.account_id = :account_id AND r.code = q.request_type
    LEFT JOIN audit_classes AS c
        ON c.account_id = :account_id AND c.audit_class_id = q.audit_class_id
    LEFT JOIN qualified_subscriptions AS n ON n.account_id = :account_id
        AND n.subscription_id = q.subscription_id
    LEFT JOIN audit_classes AS d ON d.account_id = :account_id
        AND d.audit_class_id = n.audit_class_id AND n.qualification_id = q.qualification_id
    WHERE q.account_id = :account_id
    """


def qualifications_of(
    books: Reading, subscriber_id: int, publication_id: int | None = None
) -> list[Qualification]:
    """Return the qualifications of a reader, the newest day first."""
    which = "" if publication_id is None else " AND q.publication_id = :publication_id"
    values = {} if publication_id is None else {"publication_id": publication_id}
    return books.rows_as(
        Qualification,
        f"""
        SELECT {_COLUMNS} {_FROM} AND q.subscriber_id = :subscriber_id{which}
        ORDER BY q.qualified_on DESC, q.qualification_id DESC
        """,
        subscriber_id=subscriber_id,
        **values,
    )


def held(books: Reading, publication_id: int, subscribers: Iterable[int]) -> dict[int, list[Held]]:
    """Return the subscriptions of readers to a publication that are not cancelled, the newest last.

    Readers without one are left out. Queued rows stay queued, and are not looked for.
    """
    ids = sorted(set(subscribers))
    found: dict[int, list[Held]] = {}
    for first in range(0, len(ids), _IDS_MAX):
        for each in books.direct.rows_as(
            Held,
            f"""
            SELECT s.subscription_id, s.subscriber_id, s.type FROM subscriptions AS s
            WHERE s.account_id = :account_id AND s.publication_id = :publication_id
                AND s.subscriber_id IN ({listed(ids[first : first + _IDS_MAX])})
                AND s.cancelled_on IS NULL AND s.merged_into IS NULL
            """,
            account_id=books.account_id,
            publication_id=publication_id,
        ):
            found.setdefault(each.subscriber_id, []).append(each)
    return {key: sorted(those) for key, those in found.items()}


def current_of(books: Reading, subscriptions: Iterable[int]) -> dict[int, int]:
    """Return the newest qualification of subscriptions, by their ids."""
    ids = sorted(subscriptions)
    found: dict[int, int] = {}
    for first in range(0, len(ids), _IDS_MAX):
        found |= dict(
            books.rows_as(
                tuple[int, int],
                f"""
                SELECT subscription_id, qualification_id FROM qualified_subscriptions
                WHERE account_id = :account_id
                    AND subscription_id IN ({listed(ids[first : first + _IDS_MAX])})
                """,
            )
        )
    return found


def referred(
    books: Reading, publication_id: int, references: Iterable[str | None]
) -> dict[str, tuple[str, str, str | None]]:
    """Return the day, the request type and the answers of qualifications by their references."""
    values = {f"v{n}": each for n, each in enumerate({*references} - {None})}
    if not values:
        return {}
    return {
        reference: (day, request, answers)
        for reference, day, request, answers in books.rows_as(
            tuple[str, str, str, str | None],
            f"""
            SELECT external_reference, qualified_on, request_type, answers FROM qualifications
            WHERE account_id = :account_id AND publication_id = :publication_id
                AND external_reference IN (:{", :".join(values)})
            """,
            publication_id=publication_id,
            **values,
        )
    }


def said_by(
    books: Reading, publication_id: int, subscribers: Iterable[int]
) -> set[tuple[int, str, str, str]]:
    """Return what readers have said: the reader, the day, the request type, and the answers."""
    return set(
        books.rows_as(
            tuple[int, str, str, str],
            f"""
            SELECT subscriber_id, qualified_on, request_type, coalesce(answers, '')
            FROM qualifications WHERE account_id = :account_id
                AND publication_id = :publication_id AND subscriber_id IN ({listed(subscribers)})
            """,
            publication_id=publication_id,
        )
    )


def stored_answers(books: Reading, subscriber_id: int) -> dict[int, Answer]:
    """Return the answers in the questionnaire of a reader, by the id of the field."""
    return {
        field_id: Answer(tuple(map(int, options.split("|"))) if options else (), text)
        for field_id, options, text in books.rows_as(
            tuple[int, str, str],
            """
            SELECT field_id, coalesce(option_ids, ''), coalesce(text_value, '')
            FROM custom_field_answers
            WHERE account_id = :account_id AND subscriber_id = :subscriber_id
            """,
            subscriber_id=subscriber_id,
        )
    }


def words_of(books: Reading) -> Words:
    """Return what readers are shown of the custom fields and their options, by their ids."""
    fields = books.rows_as(
        tuple[int, str | None, str | None],
        "SELECT field_id, display_as, name FROM custom_fields WHERE account_id = :account_id",
    )
    options = books.rows_as(
        tuple[int, str | None, str | None, int | None],
        """
        SELECT option_id, display_as, value, disqualifier FROM custom_field_options
        WHERE account_id = :account_id
        """,
    )
    return Words(
        {key: shown(display_as, name) for key, display_as, name in fields},
        {key: shown(display_as, value) for key, display_as, value, _ in options},
        {key for key, _, _, disqualifies in options if disqualifies},
    )


def stored_days(books: Reading, subscribers: Iterable[int]) -> dict[tuple[int, int], str]:
    """Return on which day each question was answered last, by the reader and the field.

    An answer without a day is older than any other.
    """
    ids = sorted(set(subscribers))
    found: dict[tuple[int, int], str] = {}
    for first in range(0, len(ids), _IDS_MAX):
        for subscriber_id, field_id, day in books.rows_as(
            tuple[int, int, str],
            f"""
            SELECT subscriber_id, field_id, coalesce(answered_on, '') FROM custom_field_answers
            WHERE account_id = :account_id
                AND subscriber_id IN ({listed(ids[first : first + _IDS_MAX])})
            """,
        ):
            found[subscriber_id, field_id] = day
    return found


def write_answers(
    books: Operation, days: Mapping[tuple[int, int], str], given: Mapping[tuple[int, int], Answer]
) -> None:
    """Write answers by the reader and the field, each with its day in ``days``.

    They replace what is stored; an empty one keeps its day, so that no earlier answer comes back.
    Readers' custom fields are marked for the change feed.
    """
    for field_id in sorted({field_id for _, field_id in given}):
        readers = sorted(subscriber_id for subscriber_id, field in given if field == field_id)
        for first in range(0, len(readers), _IDS_MAX):
            books.change(
                f"""
                DELETE FROM custom_field_answers
                WHERE account_id = :account_id AND field_id = :field_id
                    AND subscriber_id IN ({listed(readers[first : first + _IDS_MAX])})
                """,
                field_id=field_id,
            )
    for (subscriber_id, field_id), answer in given.items():
        books.add(
            "custom_field_answers",
            subscriber_id=subscriber_id,
            field_id=field_id,
            option_ids="|".join(map(str, answer.options)) or None,
            text_value=answer.text or None,
            answered_on=days[subscriber_id, field_id],
        )
    books.write()
    ids = sorted({subscriber_id for subscriber_id, _ in given})
    for first in range(0, len(ids), _IDS_MAX):
        books.change(
            f"""
            UPDATE subscribers SET custom_fields_commit_id = :commit_id
            WHERE account_id = :account_id
                AND subscriber_id IN ({listed(ids[first : first + _IDS_MAX])})
            """,
            commit_id=books.commit_id,
        )


def write_current(books: Operation, subscriptions: Iterable[int]) -> None:
    """Bring what follows from the qualifications of some subscriptions up to date, by their ids.

    It writes ``qualified_subscriptions``, and the class and the request type that the interface
    shows. The caller updates the balances afterwards.
    """
    lists = KeyLists(books.connection, books.account_id, books.commit_id)
    lists.keep_rows(_KEYS, ("key",), [(each,) for each in sorted(set(subscriptions))])
    keys = lists.keys_in(_KEYS)
    books.change(
        f"""
        DELETE FROM qualified_subscriptions WHERE account_id = :account_id
            AND subscription_id IN (SELECT k.key FROM {keys} AS k)
            AND NOT EXISTS (SELECT 1 FROM qualifications AS q
                WHERE q.account_id = :account_id
                    AND q.subscription_id = qualified_subscriptions.subscription_id)
        """
    )
    # The newest one by its own day, whenever it was loaded.
    books.change(
        f"""
        INSERT INTO qualified_subscriptions (account_id, subscription_id, publication_id,
            qualification_id, audit_class_id, request_position, qualified_on, valid_until, served,
            lapsed_by)
        SELECT n.account_id, n.subscription_id, n.publication_id, n.qualification_id,
            {CLASS_NOW}, r.position, n.qualified_on, n.valid_until, 0, {_LAPSED_BY}
        FROM (
            SELECT q.*, row_number() OVER (PARTITION BY q.subscription_id
                ORDER BY q.qualified_on DESC, q.qualification_id DESC) AS nth
            FROM {keys} AS k JOIN qualifications AS q
                ON q.account_id = :account_id AND q.subscription_id = k.key) AS n
        LEFT JOIN request_types AS r ON r.account_id = :account_id AND r.code = n.request_type
        WHERE n.nth = 1
        ON CONFLICT (account_id, subscription_id) DO UPDATE SET
            publication_id = excluded.publication_id,
            qualification_id = excluded.qualification_id,
            audit_class_id = excluded.audit_class_id,
            request_position = excluded.request_position, qualified_on = excluded.qualified_on,
            valid_until = excluded.valid_until, lapsed_by = excluded.lapsed_by
        """
    )
    _follow(books, lists)


def reclassify(books: Operation, publication_id: int) -> int:
    """Give the qualifications of a publication their class by the rules of now.

    Each answer that several readers gave is classified once. Those of readers who were erased are
    not known any more, and stay in their class. Updates the derived values of the publication's
    qualified subscriptions, and returns how many have another class.
    """
    lists = KeyLists(books.connection, books.account_id, books.commit_id)
    lists.keep(
        _KEYS,
        """
        SELECT n.subscription_id AS key FROM qualified_subscriptions AS n
        WHERE n.account_id = :account_id AND n.publication_id = :publication_id
        """,
        publication_id=publication_id,
    )
    of_these = f"""{lists.keys_in(_KEYS)} AS k JOIN qualifications AS n
        ON n.account_id = :account_id AND n.subscription_id = k.key
            AND n.publication_id = :publication_id"""
    texts = books.column_as(
        str,
        f"SELECT DISTINCT n.answers FROM {of_these} WHERE n.answers IS NOT NULL",
        publication_id=publication_id,
    )
    classes = classes_of(books, publication_id)
    rows = [
        (found.audit_class_id, text)
        for text in texts
        if (found := class_of(classes, answers_of(text))) is not None
    ]
    lists.keep_rows(_CLASSES, ("key", "text"), rows)
    books.change(
        f"""
        UPDATE qualifications AS q SET new_class_id = f.class_id
        FROM (
            SELECT n.qualification_id, nullif(c.key, n.audit_class_id) AS class_id FROM {of_these}
            JOIN {lists.keys_in(_CLASSES)} AS c ON c.text = n.answers) AS f
        WHERE q.account_id = :account_id AND q.qualification_id = f.qualification_id
            AND q.new_class_id IS DISTINCT FROM f.class_id
        """,
        publication_id=publication_id,
    )
    changed = books.change(
        f"""
        UPDATE qualified_subscriptions AS q SET audit_class_id = {CLASS_NOW}
        FROM qualifications AS n
        WHERE q.account_id = :account_id AND q.publication_id = :publication_id
            AND n.account_id = :account_id AND n.qualification_id = q.qualification_id
            AND q.audit_class_id IS DISTINCT FROM {CLASS_NOW}
        """,
        publication_id=publication_id,
    )
    _follow(books, lists)
    refresh(
        books,
        """
        SELECT n.subscription_id FROM qualified_subscriptions AS n
        WHERE n.account_id = :account_id AND n.publication_id = :publication_id
        """,
        publication_id=publication_id,
    )
    return changed


def _follow(books: Operation, lists: KeyLists) -> None:
    """Write what follows from the classes of the subscriptions in the list, and drop it."""
    keys = lists.keys_in(_KEYS)
    books.change(
        f"""
        UPDATE qualified_subscriptions AS n SET class_position = f.position, served = f.served
        FROM (
            SELECT o.subscription_id, c.position,
                CASE WHEN c.served = 1 AND q.disqualified = 0 THEN 1 ELSE 0 END AS served
            FROM {keys} AS k JOIN qualified_subscriptions AS o
                ON o.account_id = :account_id AND o.subscription_id = k.key
            JOIN qualifications AS q
                ON q.account_id = :account_id AND q.qualification_id = o.qualification_id
            LEFT JOIN audit_classes AS c
                ON c.account_id = :account_id AND c.audit_class_id = o.audit_class_id) AS f
        WHERE n.account_id = :account_id AND n.subscription_id = f.subscription_id
            AND (n.class_position IS DISTINCT FROM f.position OR n.served <> f.served)
        """
    )
    books.change(
        f"""
        UPDATE subscriptions AS s SET audit_classification = f.class,
            audit_request_type = f.request, commit_id = :commit_id
        FROM (
            SELECT n.subscription_id, c.code AS class, q.request_type AS request
            FROM {keys} AS k JOIN qualified_subscriptions AS n
                ON n.account_id = :account_id AND n.subscription_id = k.key
            JOIN qualifications AS q
                ON q.account_id = :account_id AND q.qualification_id = n.qualification_id
            LEFT JOIN audit_classes AS c
                ON c.account_id = :account_id AND c.audit_class_id = n.audit_class_id) AS f
        WHERE s.account_id = :account_id AND s.subscription_id = f.subscription_id
            AND (s.audit_classification IS DISTINCT FROM f.class
                OR s.audit_request_type IS DISTINCT FROM f.request)
        """,
        commit_id=books.commit_id,
    )
    lists.drop(_KEYS, _CLASSES)
