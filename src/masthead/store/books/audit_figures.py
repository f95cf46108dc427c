"""The figures of the audit report of an issue: counted from its lists, and frozen with its file.

Rules: qualification, "The audit report". Each statement counts all copies of the issue. Why readers
of the issue before do not get this one is noted when a list is made, since it is not known later
(decisions, "When the reason of a removal is judged").
"""

from collections.abc import Mapping, Sequence

from masthead.circulation.audit_report import (
    ADDITION,
    BEFORE,
    REMOVAL,
    Answered,
    Change,
    Copies,
    Count,
    Figure,
    Sent,
    figures,
    first_days,
    total_of,
)
from masthead.circulation.copy_classes import GRACE
from masthead.circulation.qualifying import Question, answers_of, told_apart
from masthead.contract.subscription_types import DIGITAL, PRINTED
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_keys import listed
from masthead.store.books.qualification_forms import find_form
from masthead.store.books.qualified_copies import CLASS_NOW, ON_THE_DAY, QUALIFICATION_OF_ENTRY
from masthead.store.books.reports import COUNTRY, SENT_TO, IssueLists, copies_on, lists_of
from masthead.store.books.serving_sql import ADDRESS, NOT_SUSPENDED
from masthead.store.books.stored_expiry_dates import NOT_TO_END

_EVER = "9999-12-31"
_NOTED = "noted removal"
"""The part of the rows that :func:`note_removals` stores, until the figures are frozen."""

_TOTAL = "CAST(sum(e.is_counted) AS BIGINT), CAST(sum(e.copies) AS BIGINT)"


def freeze(books: Operation, issue_id: int, publication_id: int) -> None:
    """Store the figures of an issue whose file is written, unless its title is not a free one."""
    if find_form(books, publication_id) is None:
        return
    found = count(books, *lists_of(books, issue_id, _EVER))
    forget_removals(books, issue_id)
    for position, each in enumerate(found, 1):
        books.add("audit_figures", issue_id=issue_id, position=position, **each._asdict())
    books.write()


def frozen(reading: Reading, issue_id: int) -> list[Figure]:
    """Return the figures that were stored with the file of an issue; none before that."""
    return reading.rows_as(
        Figure,
        """
        SELECT part, coalesce(key1, ''), coalesce(key2, ''), coalesce(key3, ''), subscriptions,
            copies, printed, digital
        FROM audit_figures
        WHERE account_id = :account_id AND issue_id = :issue_id AND part <> :noted
        ORDER BY position
        """,
        issue_id=issue_id,
        noted=_NOTED,
    )


def note_removals(books: Operation, issue_id: int, publication_id: int) -> None:
    """Store why readers of the issue before are on no list of an issue.

    Call it after making a list of an issue that has no file yet; the reasons are those of that
    time. Nothing is stored for titles without a form, since they have no audit report.
    """
    if find_form(books, publication_id) is None:
        return
    issue, before = lists_of(books, issue_id, _EVER)
    forget_removals(books, issue_id)
    if before is not None:
        _note(books, issue_id, _gone(books, issue, before.ids))


def note_removals_of_next(
    books: Operation, issue_id: int, publication_id: int, mailing_list_id: int
) -> None:
    """Store why readers on a new gap list of an issue are on no list of the next issue.

    Nothing is stored if the next issue is open, or if its figures are frozen.
    """
    next_one = books.row_as(
        tuple[int, bool],
        """
        SELECT i.issue_id, i.file_written_at IS NULL FROM issues AS i JOIN issues AS o
            ON o.account_id = :account_id AND o.issue_id = :issue_id
        WHERE i.account_id = :account_id AND i.publication_id = :publication_id
            AND i.mailing_list_id IS NOT NULL
            AND (i.date > o.date OR (i.date = o.date AND i.issue_id > o.issue_id))
        ORDER BY i.date, i.issue_id LIMIT 1
        """,
        issue_id=issue_id,
        publication_id=publication_id,
    )
    if next_one is None or not next_one[1] or find_form(books, publication_id) is None:
        return
    issue, _ = lists_of(books, next_one[0], _EVER)
    _note(books, issue.issue_id, _gone(books, issue, [mailing_list_id]))


def forget_removals(books: Operation, issue_id: int) -> None:
    """Delete what :func:`note_removals` stored for an issue."""
    books.change(
        """
        DELETE FROM audit_figures
        WHERE account_id = :account_id AND issue_id = :issue_id AND part = :noted
        """,
        issue_id=issue_id,
        noted=_NOTED,
    )


def _note(books: Operation, issue_id: int, removals: Sequence[Change]) -> None:
    first = 1 + len(_noted(books, issue_id))
    for position, each in enumerate(removals, first):
        figure = Figure(_NOTED, each.reason, "", "", *each.counts)
        books.add("audit_figures", issue_id=issue_id, position=position, **figure._asdict())
    books.write()


def _noted(reading: Reading, issue_id: int) -> list[Change]:
    found = reading.rows_as(
        tuple[str, int, int, int, int],
        """
        SELECT key1, subscriptions, copies, printed, digital FROM audit_figures
        WHERE account_id = :account_id AND issue_id = :issue_id AND part = :noted
        ORDER BY position
        """,
        issue_id=issue_id,
        noted=_NOTED,
    )
    return [Change(REMOVAL, reason, Count(*counts)) for reason, *counts in found]


def count(reading: Reading, issue: IssueLists, before: IssueLists | None) -> list[Figure]:
    """Return the figures of an issue, counted now from its lists and those of the issue before."""
    form = find_form(reading, issue.publication_id)
    questions = form.questions if form else ()
    names = told_apart({each.field_id: each.name for each in questions}, "field")
    return figures(
        issue.name,
        _copies(reading, issue),
        _answered(reading, issue, questions, names),
        _sent(reading, issue),
        _changes(reading, issue, before),
        [*names.values()],
    )


def _copies(reading: Reading, issue: IssueLists) -> list[Copies]:
    year1, year2, year3 = first_days(issue.date)
    return reading.rows_as(
        Copies,
        f"""
        SELECT coalesce(e.type, ''), e.class, x.code, n.request_type,
            CASE WHEN n.qualified_on >= :year1 THEN 0 WHEN n.qualified_on >= :year2 THEN 1
                WHEN n.qualified_on >= :year3 THEN 2 WHEN n.qualified_on IS NOT NULL THEN 3 END,
            {_TOTAL}
        FROM ({copies_on(issue.ids)}) AS e
        {QUALIFICATION_OF_ENTRY}
        LEFT JOIN audit_classes AS x
            ON x.account_id = :account_id AND x.audit_class_id = {CLASS_NOW}
        GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
        """,
        year1=year1,
        year2=year2,
        year3=year3,
    )


def _answered(
    reading: Reading, issue: IssueLists, questions: Sequence[Question], names: Mapping[int, str]
) -> list[Answered]:
    """Return the copies by what was answered; several options of a question are one answer.

    The figures have the publisher's names of questions and options. What readers are shown may be
    reworded from issue to issue.
    """
    words: dict[int, str] = {}
    for each in questions:
        own = {option.option_id: option.value or option.display_as for option in each.options}
        words |= told_apart(own, "option")
    found = reading.rows_as(
        tuple[str, int, str | None, int, int],
        f"""
        SELECT coalesce(e.type, ''), CASE WHEN n.qualification_id IS NULL THEN 0 ELSE 1 END,
            n.answers, {_TOTAL}
        FROM ({copies_on(issue.ids)}) AS e
        LEFT JOIN qualifications AS n
            ON n.account_id = :account_id AND n.qualification_id = e.qualification_id
        GROUP BY 1, 2, 3
        """,
    )
    return [
        Answered(type_, _in_words(text, names, words) if is_qualified else None, *counts)
        for type_, is_qualified, text, *counts in found
    ]


def _in_words(
    text: str | None, names: Mapping[int, str], words: Mapping[int, str]
) -> dict[str, str]:
    """Return stored answers by the names of the questions; several options are joined.

    An answer in words is ``other``.
    """
    found = {}
    for field_id, answer in answers_of(text).items():
        if field_id in names:
            said = [words.get(each, str(each)) for each in answer.options]
            said += ["other"] if answer.text else []
            found[names[field_id]] = " + ".join(said)
    return found


def _sent(reading: Reading, issue: IssueLists) -> list[Sent]:
    return reading.rows_as(
        Sent,
        f"""
        SELECT coalesce(e.type, ''),
            {COUNTRY}, a.state, {_TOTAL}
        FROM ({copies_on(issue.ids)}) AS e
        JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = e.subscription_id
        {SENT_TO}
        GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        """,
        issue_id=issue.issue_id,
    )


_WHY_NEW = """
    CASE WHEN c.now_by IS NULL THEN c.now_class
        WHEN NOT EXISTS (SELECT 1 FROM subscription_issues AS g JOIN issues AS i
                ON i.account_id = :account_id AND i.issue_id = g.issue_id
            WHERE g.account_id = :account_id AND g.subscription_id = c.subscription_id
                AND g.issue_id <> :issue_id AND i.date <= :day) THEN 'newly qualified'
        WHEN n.qualified_on > :before THEN 'qualified again'
        ELSE 'back, qualified before' END
    """
"""Why a subscription gets the issue and did not get the one before."""

_WHY_GONE = f"""
    CASE WHEN r.delete_date IS NOT NULL THEN 'deleted'
        WHEN s.merged_into IS NOT NULL THEN 'merged'
        WHEN s.cancelled_on IS NOT NULL THEN 'cancelled'
        WHEN NOT {NOT_SUSPENDED} THEN 'paused'
        WHEN c.then_by IS NULL AND c.then_class = '{GRACE}' THEN 'grace ended'
        WHEN c.then_by IS NULL AND EXISTS (SELECT 1 FROM terms AS t
            WHERE t.account_id = :account_id AND t.subscription_id = c.subscription_id
                AND t.issues_left <> 0) THEN 'held'
        WHEN c.then_by IS NULL THEN 'term ended'
        WHEN NOT {NOT_TO_END} THEN 'cancelled'
        WHEN s.begins_on > :day THEN 'begins later'
        WHEN q.qualified_on > :day AND coalesce(n.valid_until, '') < :day THEN 'qualified later'
        WHEN n.valid_until < :day THEN 'lapsed'
        WHEN n.disqualified = 1 THEN 'disqualified'
        WHEN x.served = 0 THEN 'class not served'
        WHEN s.type IN {PRINTED} AND NOT EXISTS (SELECT 1 FROM addresses AS a
            WHERE a.account_id = :account_id AND a.address_id = {ADDRESS}
                AND a.address <> '') THEN 'no address'
        WHEN x.quota IS NOT NULL THEN 'over the quota'
        ELSE 'waits for a gap list' END
    """
"""Why a subscription got the issue before and does not get this one."""


def _changes(reading: Reading, issue: IssueLists, before: IssueLists | None) -> list[Change]:
    """Return the issue before, and what is new or gone since, by reason.

    If no removals are stored, they are counted now: either there are none, or the title had no form
    when the lists were made.
    """
    found = reading.rows_as(
        tuple[int, int, str, int, int, int, int, int, int, int],
        f"""
        SELECT c.is_now, c.was,
            CASE WHEN c.was = 0 THEN {_WHY_NEW} ELSE 'other copies' END,
            count(*), {_sums("copies")}, {_sums("printed")}, {_sums("digital")}
        FROM ({_compared(issue.ids, before.ids if before else ())}) AS c
        LEFT JOIN qualifications AS n
            ON n.account_id = :account_id AND n.qualification_id = c.now_by
        WHERE c.is_now = 1 AND (c.was = 0 OR c.copies <> c.copies_before
            OR c.printed <> c.printed_before OR c.digital <> c.digital_before)
        GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        """,
        issue_id=issue.issue_id,
        day=issue.date,
        before=before.date if before else "",
    )
    changes = [Change(BEFORE, before.name, whole(reading, before))] if before else []
    for is_now, was, reason, number, *counts in found:
        more = Count(number * (not was), *counts[::2])
        fewer = Count(number * (not is_now), *counts[1::2])
        changes += [Change(ADDITION, reason, more)] if any(more) else []
        changes += [Change(REMOVAL, reason, fewer)] if any(fewer) else []
    if before:
        changes += _noted(reading, issue.issue_id) or _gone(reading, issue, before.ids)
    return changes


def _gone(reading: Reading, issue: IssueLists, then: Sequence[int]) -> list[Change]:
    """Count who was on the lists ``then`` and is on no list of the issue, by the present reason."""
    copies = "coalesce(e.copies, 0)"
    found = reading.rows_as(
        tuple[str, int, int, int, int],
        f"""
        SELECT {_WHY_GONE}, count(*), CAST(sum(c.copies) AS BIGINT),
            CAST(sum(c.printed) AS BIGINT), CAST(sum(c.digital) AS BIGINT)
        FROM (SELECT e.subscription_id, sum({copies}) AS copies,
                sum(CASE WHEN e.type IN {PRINTED} THEN {copies} ELSE 0 END) AS printed,
                sum(CASE WHEN e.type IN {DIGITAL} THEN {copies} ELSE 0 END) AS digital,
                max(e.qualification_id) AS then_by, coalesce(max(e.class), '') AS then_class
            FROM mailing_list_entries AS e
            WHERE e.account_id = :account_id AND e.mailing_list_id IN ({listed(then)})
                AND NOT EXISTS (SELECT 1 FROM mailing_list_entries AS w
                    WHERE w.account_id = :account_id AND w.subscription_id = e.subscription_id
                        AND w.mailing_list_id IN ({listed(issue.ids)}))
            GROUP BY e.subscription_id) AS c
        JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = c.subscription_id
        JOIN subscribers AS r ON r.account_id = :account_id AND r.subscriber_id = s.subscriber_id
        LEFT JOIN qualified_subscriptions AS q
            ON q.account_id = :account_id AND q.subscription_id = c.subscription_id
        LEFT JOIN qualifications AS n
            ON n.account_id = :account_id AND n.qualification_id = ({ON_THE_DAY})
        LEFT JOIN audit_classes AS x
            ON x.account_id = :account_id AND x.audit_class_id = {CLASS_NOW}
        GROUP BY 1 ORDER BY 1
        """,
        day=issue.date,
    )
    return [Change(REMOVAL, reason, Count(*counts)) for reason, *counts in found]


def _sums(name: str) -> str:
    """Return the SQL of how many copies there are more, and how many fewer."""
    now, then = f"c.{name}", f"c.{name}_before"
    return (
        f"CAST(sum(CASE WHEN {now} > {then} THEN {now} - {then} ELSE 0 END) AS BIGINT), "
        f"CAST(sum(CASE WHEN {now} < {then} THEN {then} - {now} ELSE 0 END) AS BIGINT)"
    )


def _compared(now: Sequence[int], then: Sequence[int]) -> str:
    """Return the query of each subscription on the lists, with its copies now and before."""
    is_now = f"e.mailing_list_id IN ({listed(now)})"
    was = f"e.mailing_list_id IN ({listed(then)})"
    copies = "coalesce(e.copies, 0)"
    columns = [
        f"sum(CASE WHEN {which}{more} THEN {copies} ELSE 0 END) AS {name}{end}"
        for name, more in (
            ("copies", ""),
            ("printed", f" AND e.type IN {PRINTED}"),
            ("digital", f" AND e.type IN {DIGITAL}"),
        )
        for which, end in ((is_now, ""), (was, "_before"))
    ]
    for which, name in ((is_now, "now"), (was, "then")):
        columns.append(f"max(CASE WHEN {which} THEN e.qualification_id END) AS {name}_by")
        columns.append(f"coalesce(max(CASE WHEN {which} THEN e.class END), '') AS {name}_class")
    return f"""
        SELECT e.subscription_id, max(CASE WHEN {is_now} THEN 1 ELSE 0 END) AS is_now,
            max(CASE WHEN {was} THEN 1 ELSE 0 END) AS was, {", ".join(columns)}
        FROM mailing_list_entries AS e
        WHERE e.account_id = :account_id AND ({is_now} OR {was})
        GROUP BY e.subscription_id
        """


def whole(reading: Reading, issue: IssueLists) -> Count:
    """Return all copies of an issue."""
    parts = reading.rows_as(
        tuple[str, int, int],
        f"""
        SELECT coalesce(e.type, ''), {_TOTAL} FROM ({copies_on(issue.ids)}) AS e GROUP BY 1
        """,
    )
    return total_of(parts)
