"""The made-up readers: one subscriber after the other, each with all its rows.

All random numbers come from one sequence, in the order of the subscribers, and rows refer only to
earlier rows. So a subscriber's rows depend only on the seed and the id.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, deque
from hashlib import md5
from itertools import count
from typing import NamedTuple

from masthead.sample_data import generate_words as words
from masthead.sample_data.generate_publisher import (
    COLUMNS,
    DAYS_BACK,
    FIELDS,
    CustomField,
    MailingList,
    Publication,
    Publisher,
    Row,
)
from masthead.sample_data.generate_sales import Delivery, Payer, Sale, Sales
from masthead.sample_data.generate_values import Draws, password, renewal_code, two_decimals

_TERMS = (1, 1, 1, 1, 1, 2, 2, 3)
_MORE_COPIES = (2, 2, 2, 3, 5, 10, 25)
_ISSUES_RECEIVED_MAX = 12
_NEIGHBOURS = 50
_CLASSIFICATIONS = ("A1", "A1", "A2", "B", "C", "Z9")
_REQUEST_TYPES = ("W", "W", "I", "I", "T", "E")
#: How many titles readers subscribe to, and which ones; frequent values are repeated.
_TITLES_TAKEN = (0,) * 6 + (1,) * 70 + (2,) * 19 + (3,) * 5
_TITLES = (0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4)


class Reader(NamedTuple):
    """The data of a subscriber to which later rows refer."""

    payer: Payer
    address_id: int
    billing_id: int
    last_name: words.Name
    email: str | None
    whereabouts: Row
    deleted: bool


class Member(NamedTuple):
    """A subscription that can be on mailing lists; its days are relative days."""

    subscription_id: int
    created: int
    expires: int | None
    copies: int
    is_paid: bool
    type: str


class Readers:
    """Makes readers and their activity. Adds to ``rows``, which the caller writes and clears."""

    def __init__(self, publisher: Publisher, seed: int) -> None:
        self.draws = Draws(seed)
        self.rows: dict[str, list[Row]] = {name: [] for name in COLUMNS}
        self.sales = Sales(self.draws, self.rows, publisher.calendar)
        self._publisher = publisher
        self._calendar = publisher.calendar
        self._entries: Counter[int] = Counter()
        self._recent: deque[Reader] = deque(maxlen=_NEIGHBOURS)
        self._subscriber_ids = count(1)
        self._address_ids = count(1)
        self._subscription_ids = count(1)

    def add(self, *, new: bool = False) -> Reader:
        """Make the next subscriber with all rows; a ``new`` one has no rows from before today."""
        random, pick = self.draws.random, self.draws.pick
        subscriber_id = next(self._subscriber_ids)
        neighbour = self._recent[-1] if self._recent and random() < 0.04 else None
        country = neighbour.payer.country if neighbour else pick(words.COUNTRIES)
        first = pick(country.first_names)
        last = neighbour.last_name if neighbour else pick(country.last_names)
        whereabouts = neighbour.whereabouts if neighbour else self.whereabouts(country)
        shared_email = neighbour.email if neighbour and random() < 0.5 else None
        email = shared_email or self._email(first, last, subscriber_id)
        first_name = first.text if random() < 0.99 else None
        deleted = not new and random() < 0.01

        self.rows["subscribers"].append(
            (
                subscriber_id,
                renewal_code(subscriber_id),
                email,
                _digest(subscriber_id) if email and random() < 0.6 else None,
                first_name,
                last.text,
                pick(words.SOURCES) if random() < 0.4 else None,
                self._calendar.time(-int(random() * 700), random()) if deleted else None,
            )
        )
        address_id = billing_id = next(self._address_ids)
        company = pick(words.COMPANIES) if random() < 0.12 else None
        self.rows["addresses"].append(
            (address_id, subscriber_id, first_name, last.text, company, *whereabouts)
        )
        if random() < 0.1:
            billing_id = next(self._address_ids)
            office = (None, None, pick(words.COMPANIES), *self.whereabouts(country))
            self.rows["addresses"].append((billing_id, subscriber_id, *office))
        payer = Payer(subscriber_id, country)
        reader = Reader(payer, address_id, billing_id, last, email, whereabouts, deleted)
        for title in {pick(_TITLES): None for _ in range(pick(_TITLES_TAKEN))}:
            self._subscribe(reader, self._publisher.publications[title], new=new)
        if random() < 0.08:
            self.buy(reader, self._calendar.today if new else -int(random() * 1000))
        if random() < 0.4:
            self.answer(subscriber_id)
        self._recent.append(reader)
        return reader

    def whereabouts(self, country: words.Country) -> Row:
        """Return the columns of an address from ``address`` to ``verified``."""
        random, pick = self.draws.random, self.draws.pick
        place = pick(country.places)
        street = pick(country.streets)
        american = country.abbreviation == "US"
        # The product of two random numbers is mostly small, like house numbers.
        draw = random() * random()
        number = 1 + int(draw * (9900 if american else 180))
        address = f"{number} {street}" if country.number_first else f"{street} {number}"
        if american and random() < 0.15:
            address = f"{address}, {pick(('Apt', 'Unit', 'Suite'))} {1 + int(random() * 40)}"
        postal_code = pick(place.postal_codes)
        if not american:
            postal_code = self.draws.fill(postal_code)
        elif random() < 0.3:
            postal_code = f"{postal_code}-{1000 + int(random() * 9000)}"
        located = random() < 0.93
        latitude = f"{place.latitude + random() * 0.08 - 0.04:.6f}"
        longitude = f"{place.longitude + random() * 0.08 - 0.04:.6f}"
        return (
            address,
            place.city,
            place.state or None,
            postal_code,
            country.name,
            country.abbreviation,
            latitude if located else None,
            longitude if located else None,
            1 if located and random() < 0.85 else 0,
        )

    def buy(self, reader: Reader, day: int) -> None:
        """Add an order of a product, delivered to the reader's address."""
        self.sales.sell_product(reader.payer, Delivery(reader.address_id, reader.billing_id), day)

    def answer(self, subscriber_id: int) -> None:
        """Add a subscriber's answers to some of the custom fields."""
        for field in FIELDS:
            if self.draws.random() < field.answered:
                self.rows["custom_field_answers"].append(
                    (subscriber_id, field.field_id, *self._answer(field))
                )

    def enlist(self, made: MailingList, member: Member) -> None:
        """Add a subscription to a mailing list if it should get the issue.

        A gap list holds subscriptions created after its parent list. Expired subscriptions get
        grace issues for a while.
        """
        created, expires = member.created, member.expires
        if made.status != "Complete" or created > made.made_on:
            return
        if made.parent and created <= made.parent.made_on:
            return
        if expires is not None and expires < made.issue_day - made.grace_days:
            return
        is_grace = int(expires is not None and expires < made.issue_day)
        self._entries[made.mailing_list_id] += 1
        self.rows["mailing_list_entries"].append(
            (
                made.mailing_list_id,
                member.subscription_id,
                member.copies,
                is_grace,
                int(member.is_paid),
                member.type,
            )
        )

    def list_rows(self) -> list[Row]:
        """Return the rows of ``list_downloads`` for the publisher's lists."""
        return [self.list_row(made) for lists in self._publisher.lists.values() for made in lists]

    def list_row(self, made: MailingList) -> Row:
        """Return the row of ``list_downloads`` for a list, with its current number of entries."""
        return self._publisher.list_row(made, self._entries[made.mailing_list_id])

    def _email(self, first: words.Name, last: words.Name, subscriber_id: int) -> str | None:
        style = self.draws.random()
        if style < 0.08:
            return None
        separator = "." if style < 0.6 else "_" if style < 0.7 else ""
        domain = self.draws.pick(words.EMAIL_DOMAINS)
        email = f"{first.ascii}{separator}{last.ascii}{subscriber_id}@{domain}"
        return email.upper() if style > 0.99 else email

    def _answer(self, field: CustomField) -> tuple[str | None, str | None]:
        """Return the chosen options and the text of an answer."""
        random, pick = self.draws.random, self.draws.pick
        if field.type == "text":
            return None, pick(words.SECTIONS)
        if field.type == "textarea":
            return None, pick(words.OPINIONS)
        if field.allow_other and random() < 0.08:
            return None, pick(words.TRADES)
        first, number = field.first_option_id, len(field.options)
        if field.type == "checkbox":
            chosen = [str(first + i) for i in range(number) if random() < 0.4 - 0.05 * i]
            return "|".join(chosen) or str(first), None
        return str(first + int(number * random() * random())), None

    def _subscribe(self, reader: Reader, publication: Publication, *, new: bool) -> None:
        """Add a subscription with its sale, received issues and mailing list entries."""
        random, pick = self.draws.random, self.draws.pick
        day, today = self._calendar.day, self._calendar.today
        per_year = publication.issues_per_year
        subscription_id = next(self._subscription_ids)
        created = today if new else -int(min(random(), random()) * (DAYS_BACK - 10))
        years = pick(_TERMS)
        term = 365 * years
        fate = random()
        renewals = (today - created) // term
        if 0.04 <= fate < 0.5:
            renewals = int(random() * renewals)
        unlimited = fate < 0.04
        start = created if unlimited else created + renewals * term
        expires = None if unlimited else start + term
        left = -1 if expires is None else max(0, (expires - today) * per_year // 365)
        copies = pick(_MORE_COPIES) if random() < 0.05 else 1
        medium = pick(publication.types)
        is_gift = bool(self._recent) and random() < 0.06
        mailing_id = pick(self._recent).address_id if is_gift else reader.address_id

        is_paid = random() < 0.85
        bundle_id = purchase_id = paid_left = revenue = None
        if is_paid and random() < 0.85:
            mailed_to = None if medium == "Digital" else mailing_id
            delivery = Delivery(mailed_to, reader.billing_id, int(is_gift))
            sale = Sale(publication, years, copies, delivery)
            bundle_id, purchase_id = sale.bundle_id, self.sales.sell(reader.payer, sale, start)
            if not unlimited:
                paid_left = max(0, left - int(random() * 3))
                revenue = two_decimals(sale.cents * paid_left // (per_year * years))
        self.rows["subscriptions"].append(
            (
                subscription_id,
                reader.payer.subscriber_id,
                publication.publication_id,
                mailing_id,
                reader.billing_id,
                left,
                copies,
                paid_left,
                revenue,
                medium,
                day(created),
                None if expires is None else day(expires),
                day(start) if renewals and not unlimited else None,
                bundle_id,
                purchase_id,
                int(expires is not None and expires > -500 and random() < 0.85),
                pick(_CLASSIFICATIONS) if publication.audited else None,
                pick(_REQUEST_TYPES) if publication.audited else None,
            )
        )
        days = publication.issue_days
        end_index = bisect_right(days, today if expires is None else min(today, expires))
        start_index = max(bisect_left(days, start), end_index - _ISSUES_RECEIVED_MAX)
        first_issue_id = publication.first_issue_id
        self.rows["subscription_issues"] += [
            (subscription_id, first_issue_id + index) for index in range(start_index, end_index)
        ]
        if not (reader.deleted or new):
            member = Member(subscription_id, created, expires, copies, is_paid, medium)
            for made in self._publisher.lists[publication.publication_id]:
                self.enlist(made, member)


def _digest(subscriber_id: int) -> str:
    return md5(password(subscriber_id).encode(), usedforsecurity=False).hexdigest()
