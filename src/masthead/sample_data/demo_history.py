"""The history of the demo: a folder of import files for each of ten nights.

The first night has most of the publisher. Each later night has one day's changes: new subscribers,
renewals, moves, orders, answers, sometimes a cancelling or a mailing list.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from masthead.sample_data.generate import REFERENCE_DATE, Files
from masthead.sample_data.generate_catalogue import catalogue_rows
from masthead.sample_data.generate_publisher import COLUMNS, Publisher, Row
from masthead.sample_data.generate_readers import Member, Reader, Readers
from masthead.sample_data.generate_sales import Delivery, Sale
from masthead.sample_data.generate_values import password, two_decimals

_SUBSCRIBERS = 2000
_SEED = 1
_NIGHTS = 10
_NEW_EACH_NIGHT = _SUBSCRIBERS // (20 * _NIGHTS)
_NIGHTS_BETWEEN_LISTS = 3
_FIRST_LIST_ID = 100
_ISSUES_SHOWN_MIN = 6

#: A row by the names of its columns.
_Record = dict[str, Any]

_KEY_COLUMNS = {
    "subscription_issues": 2,
    "custom_field_answers": 2,
    "mailing_list_entries": 2,
    "bundle_lines": 2,
    "renewal_efforts": 2,
}


class Sample(NamedTuple):
    """Ids and logins with non-empty results after the last night.

    The subscriber has subscriptions with received issues, answers, the order, and logins by email
    and by renewal code (interface, operation 3). The mailing list has entries. The subscriber has a
    subscription to the publication.
    """

    subscriber_id: int
    email: str
    password: str
    renewal_code: str
    postal_code: str
    order_id: int
    mailing_list_id: int
    publication_id: int


def write_history(directory: Path, *, last_night: date = REFERENCE_DATE) -> list[Path]:
    """Write a folder of import files for each night; return the folders in order.

    Raises BadInput for a folder that is not empty or not writable.
    """
    folders = []
    for night, rows in enumerate(_History(last_night).nights(), 1):
        folder = directory / f"night-{night:02}"
        with Files(folder, [name for name, found in rows.items() if found]) as files:
            files.write(rows)
        folders.append(folder)
    return folders


SAMPLE = Sample(
    subscriber_id=22,
    email="danielking22@office.example",
    password=password(22),
    renewal_code="F3RXP",
    postal_code="94132",
    order_id=10,
    mailing_list_id=109,
    publication_id=2,
)
"""A sample of what ``write_history`` writes, whatever the last night is.

It is known, and not made: to make all nights again took a demo a seventh of its start, and a demo
that was there already a third of a second.
"""


def find_sample() -> Sample:
    """Return the sample of the history that ``write_history`` writes by default."""
    history = _History(REFERENCE_DATE)
    for _ in history.nights():
        pass
    return history.sample()


class _History:
    """Makes the nights; keeps the current state of every record by table and key."""

    def __init__(self, last_night: date) -> None:
        self._publisher = Publisher(last_night - timedelta(_NIGHTS - 1))
        self._calendar = self._publisher.calendar
        self._readers = Readers(self._publisher, _SEED)
        self._known: list[Reader] = []
        self._state: dict[str, dict[Row, _Record]] = {name: {} for name in COLUMNS}

    def nights(self) -> Iterator[dict[str, list[Row]]]:
        """Yield the rows of each night by table."""
        rows = self._readers.rows
        self._known = [
            self._readers.add() for _ in range(_SUBSCRIBERS - _NEW_EACH_NIGHT * (_NIGHTS - 1))
        ]
        for name, found in self._publisher.rows().items():
            rows[name] += found
        for name, found in catalogue_rows(self._publisher.publications).items():
            rows[name] += found
        rows["list_downloads"] += self._readers.list_rows()
        yield self._night()
        for night in range(1, _NIGHTS):
            self._calendar.today = night
            self._deliver(night)
            self._changes(night)
            self._known += [self._readers.add(new=True) for _ in range(_NEW_EACH_NIGHT)]
            yield self._night()

    def sample(self) -> Sample:
        """Return a sample of the current state."""
        subscribers = {found["subscriber_id"]: found for found in self._records("subscribers")}
        postal_codes = {
            found["subscriber_id"]: found["zip_code"]
            for found in self._records("addresses")
            if found["country_abbreviation"] == "US" and found["zip_code"].isdigit()
        }
        orders = {found["subscriber_id"]: found["order_id"] for found in self._records("orders")}
        answering = {found["subscriber_id"] for found in self._records("custom_field_answers")}
        received = Counter(
            found["subscription_id"] for found in self._records("subscription_issues")
        )
        found = next(
            found
            for found in self._records("subscriptions")
            if received[found["subscription_id"]] >= _ISSUES_SHOWN_MIN
            and subscribers[found["subscriber_id"]]["password_md5"]
            and not subscribers[found["subscriber_id"]]["delete_date"]
            and all(
                found["subscriber_id"] in having for having in (postal_codes, orders, answering)
            )
        )
        subscriber = subscribers[found["subscriber_id"]]
        return Sample(
            subscriber["subscriber_id"],
            subscriber["email"],
            password(subscriber["subscriber_id"]),
            subscriber["renewal_code"],
            postal_codes[subscriber["subscriber_id"]],
            orders[subscriber["subscriber_id"]],
            self._records("list_downloads")[-1]["mailing_list_id"],
            found["publication_id"],
        )

    def _records(self, table: str) -> list[_Record]:
        return list(self._state[table].values())

    def _night(self) -> dict[str, list[Row]]:
        """Return the rows of this night, and update the state."""
        tonight = {}
        for name, rows in self._readers.rows.items():
            tonight[name] = rows.copy()
            rows.clear()
            columns = COLUMNS[name].split()
            for row in tonight[name]:
                key = row[: _KEY_COLUMNS.get(name, 1)]
                self._state[name][key] = dict(zip(columns, row, strict=True))
        return tonight

    def _change(self, table: str, record: _Record, **changed: Any) -> None:
        self._readers.rows[table].append(tuple((record | changed).values()))

    def _some(self, one_of: int) -> list[Reader]:
        """Return distinct readers who have not left, about one in ``one_of`` of all."""
        number = min(len(self._known), 1 + len(self._known) // one_of)
        picked = (self._readers.draws.pick(self._known) for _ in range(number))
        return list(
            {
                reader.address_id: reader
                for reader in picked
                if not self._subscriber(reader)["delete_date"]
            }.values()
        )

    def _subscriber(self, reader: Reader) -> _Record:
        return self._state["subscribers"][(reader.payer.subscriber_id,)]

    def _changes(self, night: int) -> None:
        """Make a night's changes to existing subscribers."""
        readers = self._readers
        for reader in self._some(150):
            self._renew(reader)
        for reader in self._some(400):
            moved = zip(
                COLUMNS["addresses"].split()[5:],
                readers.whereabouts(reader.payer.country),
                strict=True,
            )
            self._change("addresses", self._state["addresses"][(reader.address_id,)], **dict(moved))
        for reader in self._some(500):
            readers.buy(reader, night)
        for reader in self._some(300):
            readers.answer(reader.payer.subscriber_id)
        if night % _NIGHTS_BETWEEN_LISTS == 0:
            self._build_list(night)
            for reader in self._some(len(self._known)):
                left_on = self._calendar.time(night, 0.5)
                self._change("subscribers", self._subscriber(reader), delete_date=left_on)

    def _deliver(self, night: int) -> None:
        """Record who received the issues that come out on the night's day."""
        for publication in self._publisher.publications:
            if night not in publication.issue_days:
                continue
            issue_id = publication.first_issue_id + publication.issue_days.index(night)
            today = self._calendar.day(night)
            self._readers.rows["subscription_issues"] += [
                (found["subscription_id"], issue_id)
                for found in self._records("subscriptions")
                if found["publication_id"] == publication.publication_id
                and not self._subscriber_of(found)["delete_date"]
                and (found["date_expired"] or today) >= today
            ]

    def _subscriber_of(self, record: _Record) -> _Record:
        return self._state["subscribers"][(record["subscriber_id"],)]

    def _day(self, text: str) -> int:
        """Return the number of days from the publisher's reference date to ``YYYY-MM-DD``."""
        return (date.fromisoformat(text) - self._calendar.reference_date).days

    def _renew(self, reader: Reader) -> None:
        """Renew a reader's first subscription that ends within a year, if there is one."""
        today = self._calendar.today
        found = next(
            (
                record
                for record in self._records("subscriptions")
                if record["subscriber_id"] == reader.payer.subscriber_id
                and record["date_expired"]
                and self._day(record["date_expired"]) < today + 365
            ),
            None,
        )
        if not found:
            return
        publication = self._publisher.publications[found["publication_id"] - 1]
        mailed_to = None if found["type"] == "Digital" else found["mailing_address_id"]
        delivery = Delivery(mailed_to, found["billing_address_id"])
        sale = Sale(publication, 1, found["copies"], delivery)
        purchase_id = self._readers.sales.sell(reader.payer, sale, today)
        unearned = int((found["unearned_revenue"] or "0.00").replace(".", "")) + sale.cents
        self._change(
            "subscriptions",
            found,
            issues=found["issues"] + publication.issues_per_year,
            paid_issues_left=(found["paid_issues_left"] or 0) + publication.issues_per_year,
            unearned_revenue=two_decimals(unearned),
            date_expired=self._calendar.day(max(today, self._day(found["date_expired"])) + 365),
            date_last_renewed=self._calendar.day(today),
            last_purchase_bundle_id=sale.bundle_id,
            last_purchase_id=purchase_id,
            renew_campaign_active=1,
        )

    def _build_list(self, night: int) -> None:
        """Make a mailing list for the next issue of one of the publications."""
        publications = self._publisher.publications
        publication = publications[night // _NIGHTS_BETWEEN_LISTS % len(publications)]
        made = self._publisher.next_list(publication, _FIRST_LIST_ID + night, night)
        for found in self._records("subscriptions"):
            subscriber = self._state["subscribers"][(found["subscriber_id"],)]
            if (
                found["publication_id"] == publication.publication_id
                and not subscriber["delete_date"]
            ):
                expired = found["date_expired"]
                member = Member(
                    found["subscription_id"],
                    self._day(found["date_created"]),
                    self._day(expired) if expired else None,
                    found["copies"],
                    found["last_purchase_id"] is not None,
                    found["type"],
                )
                self._readers.enlist(made, member)
        self._readers.rows["list_downloads"].append(self._readers.list_row(made))
