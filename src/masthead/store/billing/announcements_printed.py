"""What the announcements of automatic renewals print, with the present names and addresses.

The functions run in an operation, after its derived values are up to date, or in a reading of one.
"""

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import NamedTuple

from masthead.billing.automatic_renewals import copies_of
from masthead.billing.printed import Seller
from masthead.billing.printed_announcements import PrintedAnnouncement
from masthead.billing.settings import BillingSettings
from masthead.billing.spoken import spoken
from masthead.contract.printable import printable
from masthead.store.billing.announced_renewals import CANDIDATE, Candidate
from masthead.store.billing.mandates import collects
from masthead.store.billing.printing import person_of
from masthead.store.books.mail_file import address_of
from masthead.store.books.operation import Reading
from masthead.store.books.order_keys import listed

_MAILED = """EXISTS (SELECT 1 FROM mails AS m WHERE m.account_id = :account_id
    AND m.subscription_id = a.subscription_id AND m.kind = 'announcement'
    AND m.status IN ('queued', 'sent') AND m.queued_at >= a.announced_on)"""
"""Whether the announcement ``a`` goes, or went, by email."""

_OF_A_DAY = f"a.announced_on = :day AND a.status IN ('announced', 'renewed') AND NOT {_MAILED}"

_MANDATE = """(SELECT n.{column} FROM mandates AS n WHERE n.account_id = :account_id
    AND n.subscriber_id = f.payer_id AND n.status = 'active' ORDER BY n.mandate_id DESC LIMIT 1)"""


class _More(NamedTuple):
    """What an announcement prints beside what a :class:`Candidate` has; amounts are cents."""

    announced_on: str
    renews_on: str
    price: int
    tax: int
    given_on: str
    words: str | None
    publication: str | None
    bundle: str | None
    issues: int | None
    reader_first_name: str | None
    reader_last_name: str | None
    mandate: str | None
    iban_end: str | None
    renewal_code: str | None
    email: str | None


_FROM_CONSENT = """
    a.announced_on, a.renews_on, a.price, a.tax, v.given_on, v.words,
    (SELECT p.name FROM publications AS p WHERE p.account_id = :account_id
        AND p.publication_id = s.publication_id) AS publication,
    (SELECT u.name FROM bundles AS u WHERE u.account_id = :account_id
        AND u.bundle_id = v.bundle_id) AS bundle,
    (SELECT max(l.issues) FROM bundle_lines AS l WHERE l.account_id = :account_id
        AND l.bundle_id = v.bundle_id AND l.publication_id = s.publication_id
        AND l.type = s.type) AS issues
    """


def printed_announcements(
    reading: Reading, settings: BillingSettings, seller: Seller, announcements: Iterable[int]
) -> list[PrintedAnnouncement]:
    """Return what some announcements print, by their ids."""
    sql = _sql(f"a.announcement_id IN ({listed(announcements)})")
    rows = reading.connection.rows(sql, account_id=reading.account_id)
    return [_printed(row, settings, seller, reading) for row in rows]


def announcements_of_day(
    reading: Reading, settings: BillingSettings, seller: Seller, day: str
) -> Iterator[PrintedAnnouncement]:
    """Yield what the announcements of a day print, without those that were mailed or stopped."""
    rows = reading.connection.stream(_sql(_OF_A_DAY), account_id=reading.account_id, day=day)
    for row in rows:
        yield _printed(row, settings, seller, reading)


def count_of_day(reading: Reading, day: str) -> int:
    """Return how many announcements of a day do not go by email, and were not stopped."""
    return int(
        reading.value_as(
            int,
            f"""
            SELECT count(*) FROM announced_renewals AS a
            WHERE a.account_id = :account_id AND {_OF_A_DAY}
            """,
            day=day,
        )
        or 0
    )


def _sql(which: str) -> str:
    columns = ", ".join(f"f.{name}" for name in (*Candidate._fields, *_More._fields[:9]))
    mandate = ", ".join(_MANDATE.format(column=name) for name in ("reference", "iban_end"))
    return f"""
        WITH found AS (
            SELECT {CANDIDATE}, {_FROM_CONSENT}, a.announcement_id,
                coalesce(s.mailing_address_id, s.billing_address_id) AS own_address_id
            FROM announced_renewals AS a
            JOIN renewal_consents AS v
                ON v.account_id = :account_id AND v.consent_id = a.consent_id
            JOIN subscriptions AS s
                ON s.account_id = :account_id AND s.subscription_id = a.subscription_id
            JOIN subscriptions AS d
                ON d.account_id = :account_id AND d.subscription_id = a.subscription_id
            JOIN terms AS t ON t.account_id = :account_id AND t.term_id = a.term_id
            WHERE a.account_id = :account_id AND {which}
        )
        SELECT {columns}, r.first_name, r.last_name, {mandate}, w.renewal_code, w.email,
            {address_of("w")}
        FROM found AS f
        JOIN subscribers AS r ON r.account_id = :account_id AND r.subscriber_id = f.subscriber_id
        JOIN subscribers AS w ON w.account_id = :account_id AND w.subscriber_id = f.payer_id
        LEFT JOIN addresses AS a ON a.account_id = :account_id AND a.address_id =
            coalesce(f.billing_address_id,
                CASE WHEN f.payer_id = f.subscriber_id THEN f.own_address_id END)
        ORDER BY f.announcement_id
        """


def _printed(
    row: tuple[object, ...], settings: BillingSettings, seller: Seller, reading: Reading
) -> PrintedAnnouncement:
    width = len(Candidate._fields)
    of = Candidate._make(row[:width])
    more = _More._make(row[width : width + len(_More._fields)])
    address = [None if each is None else str(each) for each in row[width + len(_More._fields) :]]
    payer = person_of(of.payer_id, address, email=more.email)
    names = " ".join(filter(None, (more.reader_first_name, more.reader_last_name)))
    line_copies = of.line_copies or 1
    copies = line_copies * copies_of(
        of.bundle_id, of.ordered_bundle_id, of.ordered_copies, of.term_copies, line_copies
    )
    is_collected = collects(reading, settings)
    return PrintedAnnouncement(
        subscription_id=of.subscription_id,
        announced_on=more.announced_on,
        seller=seller,
        payer=payer,
        reader="" if of.payer_id == of.subscriber_id else printable(names),
        language=spoken(settings, payer).language,
        currency=reading.currency,
        prices_with_tax=settings.prices_with_tax,
        publication=printable(more.publication or ""),
        bundle=printable(more.bundle or ""),
        issues=more.issues or 0,
        copies=copies,
        until=of.expired or None,
        renews_on=more.renews_on,
        stop_until=f"{date.fromisoformat(more.renews_on) - timedelta(1)}",
        net=more.price,
        tax=more.tax,
        consent_on=more.given_on,
        consent=printable(more.words or ""),
        renewal_code=more.renewal_code or "",
        mandate=(more.mandate or "") if is_collected else "",
        iban_end=(more.iban_end or "") if is_collected else "",
    )
