"""The made-up readers: one subscriber after the other, each with all its rows.

Everything is drawn from one stream, in the order of the subscribers, and a row refers only to
earlier ones: the rows of a subscriber depend on the seed and on its number, never on how many
follow. Of Python's generator only ``random()`` is used, whose sequence for a seed is promised to
stay the same, and no function of the platform's mathematical library.

The words stand in ``generate_words.py``, what the publisher offers in ``generate_publisher.py``;
the files are written by ``generate.py``.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Sequence
from hashlib import md5
from itertools import count
from random import Random
from typing import NamedTuple, TypeVar

from masthead.loading import generate_words as words
from masthead.loading.generate_publisher import (
    COLUMNS,
    DAYS_BACK,
    FIELDS,
    CustomField,
    MailingList,
    Publication,
    Publisher,
    Row,
)

__all__ = ["SUBSCRIBERS_MAX", "Reader", "Readers", "password", "renewal_code"]

T = TypeVar("T")

#: As many different renewal codes of five characters are there with 32 characters to choose from.
SUBSCRIBERS_MAX = 32**5

_CODE_CHARACTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LETTERS = "ABEGHJLNPRSTWXYZ"
_TERMS = (1, 1, 1, 1, 1, 2, 2, 3)
_MORE_COPIES = (2, 2, 2, 3, 5, 10, 25)
_ISSUES_RECEIVED_MAX = 12
_NEIGHBOURS = 50
_PAYMENT_TYPES = ("Credit Card", "Credit Card", "Check", "Bill Me", "Direct Debit", "Cash")
_IMPORTS = ("autumn-mailing.csv", "agency transfer 0042", "trade show cards, hall 7 (typed)")
_PRODUCTS = ((501, 1250), (502, 2499), (503, 10), (504, 3900), (505, 1905), (506, 20))
_CLASSIFICATIONS = ("A1", "A1", "A2", "B", "C", "Z9")
_REQUEST_TYPES = ("W", "W", "I", "I", "T", "E")
#: How many titles a reader takes; each title's weight in a draw.
_TITLES_TAKEN = (0,) * 6 + (1,) * 70 + (2,) * 19 + (3,) * 5
_POPULARITY = (0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4)


class Reader(NamedTuple):
    """A subscriber that was made: what later rows need to know of it."""

    subscriber_id: int
    address_id: int
    country: words.Country
    last_name: words.Name
    email: str | None
    whereabouts: Row


def password(subscriber_id: int) -> str:
    """Return the password of a subscriber who has one."""
    return f"password-{subscriber_id}"


def renewal_code(subscriber_id: int) -> str:
    """Return the renewal code of a subscriber: no two below SUBSCRIBERS_MAX share one.

    Each step maps the numbers of 25 bits onto themselves, one to one.
    """
    mixed = (subscriber_id * 0x19660D + 0x3C6EF3) & 0x1FFFFFF
    mixed ^= mixed >> 13
    mixed = (mixed * 0x10DCD) & 0x1FFFFFF
    mixed ^= mixed >> 12
    return "".join([_CODE_CHARACTERS[mixed >> shift & 31] for shift in (20, 15, 10, 5, 0)])


def _two_decimals(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"


def _shortest(cents: int) -> str:
    """Return ``85`` for 8500 cents, ``10.5`` for 1050."""
    units, rest = divmod(cents, 100)
    if not rest:
        return str(units)
    return f"{units}.{rest // 10}" if rest % 10 == 0 else f"{units}.{rest:02}"


class Readers:
    """Makes readers and what they do, adding to ``rows``; whoever writes the rows empties them.

    ``today`` is the day on which things happen, counted from the reference date.
    """

    def __init__(self, publisher: Publisher, seed: int) -> None:
        self.publisher = publisher
        self.today = 0
        self.rows: dict[str, list[Row]] = {name: [] for name in COLUMNS}
        self._entries: Counter[int] = Counter()
        self._calendar = publisher.calendar
        self._random = Random(seed).random
        self._recent: deque[Reader] = deque(maxlen=_NEIGHBOURS)
        self._subscriber_ids = count(1)
        self._address_ids = count(1)
        self._subscription_ids = count(1)
        self._order_ids = count(1)
        self._order_item_ids = count(1)
        self._purchase_ids = count(1)

    def pick(self, choices: Sequence[T]) -> T:
        """Return one of ``choices``."""
        return choices[int(self._random() * len(choices))]

    def chance(self, share: float) -> bool:
        """Return True in ``share`` of the cases."""
        return self._random() < share

    def add(self, *, new: bool = False) -> Reader:
        """Make the next subscriber with all its rows; a ``new`` one has no past before today."""
        random = self._random
        subscriber_id = next(self._subscriber_ids)
        neighbour = self._recent[-1] if self._recent and random() < 0.04 else None
        country = neighbour.country if neighbour else self.pick(words.COUNTRIES)
        first = self.pick(country.first_names)
        last = neighbour.last_name if neighbour else self.pick(country.last_names)
        whereabouts = neighbour.whereabouts if neighbour else self.whereabouts(country)
        first_name = first.text if random() < 0.99 else None
        deleted = not new and random() < 0.01
        deleted_on = -int(random() * 700)

        style = random()
        if neighbour and style < 0.5:
            email = neighbour.email
        elif style < 0.08:
            email = None
        else:
            separator = "." if style < 0.6 else "_" if style < 0.7 else ""
            domain = self.pick(words.EMAIL_DOMAINS)
            email = f"{first.ascii}{separator}{last.ascii}{subscriber_id}@{domain}"
            if style > 0.99:
                email = email.upper()
        has_password = email is not None and random() < 0.6
        digest = md5(password(subscriber_id).encode(), usedforsecurity=False).hexdigest()
        self.rows["subscribers"].append(
            (
                subscriber_id,
                renewal_code(subscriber_id),
                email,
                digest if has_password else None,
                first_name,
                last.text,
                self.pick(words.SOURCES) if random() < 0.4 else None,
                self._calendar.time(deleted_on, random()) if deleted else None,
            )
        )
        address_id = next(self._address_ids)
        company = self.pick(words.COMPANIES) if random() < 0.12 else None
        self.rows["addresses"].append(
            (address_id, subscriber_id, first_name, last.text, company, *whereabouts)
        )
        reader = Reader(subscriber_id, address_id, country, last, email, whereabouts)
        billing_id = address_id
        if random() < 0.1:
            billing_id = next(self._address_ids)
            office = self.whereabouts(country)
            self.rows["addresses"].append(
                (billing_id, subscriber_id, None, None, self.pick(words.COMPANIES), *office)
            )
        taken: list[int] = []
        for _ in range(self.pick(_TITLES_TAKEN)):
            title = self.pick(_POPULARITY)
            if title not in taken:
                taken.append(title)
                self._subscribe(
                    reader, self.publisher.publications[title], billing_id, deleted, new
                )
        if random() < 0.08:
            self.buy(reader, self.today if new else -int(random() * 1000))
        if random() < 0.4:
            self.answer(subscriber_id)
        self._recent.append(reader)
        return reader

    def whereabouts(self, country: words.Country) -> Row:
        """Return the columns of an address from ``address`` to ``verified``."""
        random = self._random
        place = self.pick(country.places)
        street = self.pick(country.streets)
        # The smaller of two draws: low house numbers are more frequent.
        draw = random() if random() < 0.3 else random() * random()
        if country.number_first:
            reach = 9900 if country.abbreviation == "US" else 180
            address = f"{1 + int(draw * reach)} {street}"
            if random() < 0.15:
                address = f"{address}, {self.pick(('Apt', 'Unit', 'Suite'))} {int(draw * 40) + 1}"
        else:
            address = f"{street} {1 + int(draw * 120)}"
        postal_code = self.pick(place.postal_codes)
        if country.abbreviation == "US":
            if random() < 0.3:
                postal_code = f"{postal_code}-{1000 + int(random() * 8999)}"
        elif "@" in postal_code:
            postal_code = "".join(
                [
                    self.pick(_LETTERS)
                    if character == "@"
                    else str(int(random() * 10))
                    if character == "#"
                    else character
                    for character in postal_code
                ]
            )
        located = random() < 0.93
        north, east = random(), random()
        return (
            address,
            place.city,
            place.state or None,
            postal_code,
            country.name,
            country.abbreviation,
            f"{place.latitude + north * 0.08 - 0.04:.6f}" if located else None,
            f"{place.longitude + east * 0.08 - 0.04:.6f}" if located else None,
            1 if located and random() < 0.85 else 0,
        )

    def sell(
        self,
        reader: Reader,
        publication: Publication,
        years: int,
        *,
        copies: int = 1,
        day: int,
        shipping_id: int | None,
        billing_id: int,
        is_gift: int = 0,
    ) -> tuple[int, int, int]:
        """Add a purchase, at times with its order; return bundle id, purchase id and cents paid."""
        random = self._random
        bundle_id = publication.publication_id * 10 + years
        cents = publication.price * years * (11 - years) // 10 * copies
        tax = (cents * reader.country.tax + 5000) // 10000
        purchase_id = next(self._purchase_ids)
        self.rows["purchases"].append(
            (
                purchase_id,
                self.pick(_PAYMENT_TYPES),
                self.pick(words.NOTES) if random() < 0.04 else None,
                reader.subscriber_id,
                bundle_id,
                shipping_id,
                billing_id,
                f"{publication.name}, {years} year{'s' * (years > 1)}" if random() < 0.8 else None,
                f"INV-{purchase_id:07}" if random() < 0.6 else None,
                _two_decimals(cents + tax),
                _two_decimals(cents) if random() < 0.7 else None,
                is_gift,
            )
        )
        if random() < 0.65:
            items: list[tuple[int | None, int | None, int]] = [(bundle_id, None, cents)]
            while random() < 0.2:
                items.append(self._product())
            self._order(reader, shipping_id or billing_id, billing_id, day, is_gift, items)
        return bundle_id, purchase_id, cents

    def list_rows(self) -> list[Row]:
        """Return the rows of ``list_downloads``, each with the count of its entries so far."""
        return [
            self.list_row(made) for lists in self.publisher.lists.values() for made in lists
        ]

    def list_row(self, made: MailingList) -> Row:
        """Return the row of ``list_downloads`` for a list, with the count of its entries so far."""
        return self.publisher.list_row(made, self._entries[made.mailing_list_id])

    def buy(self, reader: Reader, day: int) -> None:
        """Add an order of a product, sent to the reader's own address."""
        self._order(reader, reader.address_id, reader.address_id, day, 0, [self._product()])

    def answer(self, subscriber_id: int) -> None:
        """Add a subscriber's answers to some of the questions."""
        for field in FIELDS:
            if self._random() < field.answered:
                self.rows["custom_field_answers"].append(
                    (subscriber_id, field.field_id, *self._answer(field))
                )

    def enlist(
        self,
        made: MailingList,
        subscription_id: int,
        created: int,
        expires: int | None,
        copies: int,
        paid: bool,
        kind: str,
    ) -> None:
        """Put a subscription on a mailing list where it belongs there.

        A gap list holds those who came after its parent was made; grace issues go on for a while
        to those whose subscription has run out.
        """
        if made.status != "Complete" or created > made.made_on:
            return
        if made.parent and created <= made.parent.made_on:
            return
        if expires is not None and expires < made.issue_day - made.grace_days:
            return
        is_grace = int(expires is not None and expires < made.issue_day)
        self._entries[made.mailing_list_id] += 1
        self.rows["mailing_list_entries"].append(
            (made.mailing_list_id, subscription_id, copies, is_grace, int(paid), kind)
        )

    def _answer(self, field: CustomField) -> tuple[str | None, str | None]:
        """Return the options chosen and the text of one answer."""
        random = self._random
        if field.type == "text":
            return None, self.pick(words.SECTIONS)
        if field.type == "textarea":
            return None, self.pick(words.OPINIONS)
        if field.allow_other and random() < 0.08:
            return None, self.pick(words.TRADES)
        first, number = field.first_option_id, len(field.options)
        if field.type == "checkbox":
            chosen = [str(first + i) for i in range(number) if random() < 0.4 - 0.05 * i]
            return "|".join(chosen) or str(first), None
        return str(first + int(number * random() * random())), None

    def _subscribe(
        self, reader: Reader, publication: Publication, billing_id: int, deleted: bool, new: bool
    ) -> None:
        """Add a subscription with what belongs to it: sale, issues received, places on lists."""
        random, day = self._random, self._calendar.day
        subscription_id = next(self._subscription_ids)
        draws = random(), random()
        created = self.today if new else -int(min(draws) * (DAYS_BACK - 10))
        years = self.pick(_TERMS)
        term = 365 * years
        fate = random()
        renewals = (self.today - created) // term
        expires: int | None
        if fate < 0.04:
            renewals, start, expires, left = 0, created, None, -1
        else:
            if fate < 0.5:
                renewals = int(random() * renewals)
            start = created + renewals * term
            expires = start + term
            left = max(0, (expires - self.today) * publication.issues_per_year // 365)
        copies = self.pick(_MORE_COPIES) if random() < 0.05 else 1
        kind = self.pick(publication.types)
        is_gift = int(bool(self._recent) and random() < 0.06)
        mailing_id = reader.address_id
        if is_gift:
            mailing_id = self._recent[int(random() * len(self._recent))].address_id

        paid = random() < 0.85
        bundle_id = purchase_id = paid_left = revenue = None
        if paid and random() < 0.85:
            shipping_id = None if kind == "Digital" else mailing_id
            bundle_id, purchase_id, cents = self.sell(
                reader,
                publication,
                years,
                copies=copies,
                day=start,
                shipping_id=shipping_id,
                billing_id=billing_id,
                is_gift=is_gift,
            )
            if left >= 0:
                paid_left = max(0, left - int(random() * 3))
                revenue = _two_decimals(
                    cents * paid_left // (publication.issues_per_year * years)
                )
        self.rows["subscriptions"].append(
            (
                subscription_id,
                reader.subscriber_id,
                publication.publication_id,
                mailing_id,
                billing_id,
                left,
                copies,
                paid_left,
                revenue,
                kind,
                day(created),
                None if expires is None else day(expires),
                day(start) if renewals else None,
                bundle_id,
                purchase_id,
                int(expires is not None and expires > -500 and random() < 0.85),
                self.pick(_CLASSIFICATIONS) if publication.audited else None,
                self.pick(_REQUEST_TYPES) if publication.audited else None,
            )
        )
        days = publication.issue_days
        end = bisect_right(days, self.today if expires is None else min(self.today, expires))
        begin = max(bisect_left(days, start), end - _ISSUES_RECEIVED_MAX)
        first_issue_id = publication.first_issue_id
        self.rows["subscription_issues"] += [
            (subscription_id, first_issue_id + index) for index in range(begin, end)
        ]
        if deleted or new:
            return
        for made in self.publisher.lists[publication.publication_id]:
            self.enlist(made, subscription_id, created, expires, copies, paid, kind)

    def _product(self) -> tuple[int | None, int | None, int]:
        product_id, cents = self.pick(_PRODUCTS)
        return None, product_id, cents

    def _order(
        self,
        reader: Reader,
        mailing_id: int,
        billing_id: int,
        day: int,
        is_gift: int,
        items: list[tuple[int | None, int | None, int]],
    ) -> None:
        """Add an order of ``items`` (bundle or product, cents), whose sums are the order's."""
        random, time = self._random, self._calendar.time
        order_id = next(self._order_ids)
        sub_total = tax_total = 0
        for bundle_id, product_id, cents in items:
            tax = (cents * reader.country.tax + 5000) // 10000
            sub_total += cents
            tax_total += tax
            refunded = day + int(random() * 40) if random() < 0.03 else None
            fulfilled = day + 1 + int(random() * 6)
            self.rows["order_items"].append(
                (
                    next(self._order_item_ids),
                    order_id,
                    bundle_id,
                    product_id,
                    time(min(refunded, self.today), random()) if refunded is not None else None,
                    time(fulfilled, random()) if fulfilled <= self.today else None,
                    _shortest(cents),
                    _shortest(tax),
                    _shortest(cents + tax),
                )
            )
        imported = random() < 0.1
        self.rows["orders"].append(
            (
                order_id,
                reader.subscriber_id,
                mailing_id,
                billing_id,
                self.pick(_IMPORTS) if imported else None,
                1 + int(random() * 12) if random() < 0.5 else None,
                1 + int(random() * 4) if random() < 0.8 else None,
                time(day, random()),
                is_gift,
                _shortest(sub_total),
                _shortest(tax_total),
                _shortest(sub_total + tax_total),
            )
        )
