"""Ten nights of a made-up publisher, for the demonstration: one folder of import files a night.

The first night brings most of the publisher, each later one what a day brings: new subscribers,
renewals, moves, orders, answers, now and then a cancellation or a mailing list. The rows are made
by ``generate_readers.py``; loading them, and with which clock, is left to the command.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

from masthead.errors import BadInput
from masthead.loading.generate import REFERENCE_DATE, Files
from masthead.loading.generate_publisher import COLUMNS, Publisher, Row
from masthead.loading.generate_readers import Reader, Readers, password

__all__ = ["Sample", "sample", "write_history"]

_SUBSCRIBERS = 2000
_SEED = 1
_NIGHTS = 10
_NIGHTS_BETWEEN_LISTS = 3
_FIRST_LIST_ID = 100
_ISSUES_SHOWN_MIN = 6

_Rows = dict[str, list[Row]]
_Record = dict[str, str | int | None]


class Sample(NamedTuple):
    """Ids and logins that show something in the history as it stands after the last night.

    The subscriber has subscriptions that have received issues, answers and the order; email with
    password, and renewal code with postal code, are its two logins (interface, operation 3). The
    list has entries, and the publication is one that the subscriber takes.
    """

    subscriber_id: int
    email: str
    password: str
    renewal_code: str
    postal_code: str
    order_id: int
    mailing_list_id: int
    publication_id: int


def write_history(
    directory: Path,
    *,
    subscribers: int = _SUBSCRIBERS,
    seed: int = _SEED,
    nights: int = _NIGHTS,
    last_night: date = REFERENCE_DATE,
) -> list[Path]:
    """Write a folder of import files for each of the nights, and return the folders in order.

    Loaded in that order, all together hold exactly so many subscribers. The last folder is that of
    ``last_night``. Issues are known for half a year ahead, so the nights are at most 150. Raises
    BadInput where a folder of a night holds files already or cannot be written.
    """
    folders = []
    for night, rows in enumerate(_History(subscribers, seed, nights, last_night).nights(), 1):
        folder = directory / f"night-{night:02}"
        with Files(folder, [name for name, found in rows.items() if found]) as files:
            files.write(rows)
        folders.append(folder)
    return folders


def sample() -> Sample:
    """Return a sample of the history that ``write_history`` writes unless told otherwise.

    It is true whatever the last night.
    """
    history = _History(_SUBSCRIBERS, _SEED, _NIGHTS, REFERENCE_DATE)
    for _ in history.nights():
        pass
    return history.sample()


def _record(table: str, row: Row) -> _Record:
    return dict(zip(COLUMNS[table].split(), row, strict=True))


class _History:
    """The publisher from night to night, and every row as it stands, by table and key."""

    def __init__(self, subscribers: int, seed: int, nights: int, last_night: date) -> None:
        self._publisher = Publisher(last_night - timedelta(nights - 1))
        self._readers = Readers(self._publisher, seed)
        self._known: list[Reader] = []
        self._nights = nights
        self._joining = subscribers // (20 * nights)
        self._subscribers = subscribers
        self._state: dict[str, dict[Row, Row]] = {name: {} for name in COLUMNS}

    def nights(self) -> Iterator[_Rows]:
        """Make one night after the other and return its rows, which may be emptied."""
        rows = self._readers.rows
        at_first = self._subscribers - self._joining * (self._nights - 1)
        self._known = [self._readers.add() for _ in range(at_first)]
        for name, found in self._publisher.rows().items():
            rows[name] += found
        rows["list_downloads"] += self._readers.list_rows()
        yield self._night()
        for night in range(1, self._nights):
            self._readers.today = night
            self._changes(night)
            self._known += [self._readers.add(new=True) for _ in range(self._joining)]
            yield self._night()

    def sample(self) -> Sample:
        """Return a sample of what was made so far.

        Raises BadInput where there are too few subscribers to find one.
        """
        state = self._state
        subscribers = {row[0]: _record("subscribers", row) for row in self._rows("subscribers")}
        postal_codes = {
            row[1]: row[8]
            for row in self._rows("addresses")
            if row[10] == "US" and str(row[8]).isdigit()
        }
        orders = {row[1]: row[0] for row in self._rows("orders")}
        answering = {row[0] for row in self._rows("custom_field_answers")}
        received: dict[str | int | None, int] = {}
        for subscription_id, _ in state["subscription_issues"]:
            received[subscription_id] = received.get(subscription_id, 0) + 1
        lists = [row[0] for row in self._rows("list_downloads") if int(row[3] or 0)]
        for row in self._rows("subscriptions"):
            found = subscribers[row[1]]
            subscriber_id = int(row[1] or 0)
            if (
                lists
                and received.get(row[0], 0) >= _ISSUES_SHOWN_MIN
                and found["password_md5"]
                and not found["delete_date"]
                and subscriber_id in orders
                and subscriber_id in postal_codes
                and subscriber_id in answering
            ):
                return Sample(
                    subscriber_id,
                    str(found["email"]),
                    password(subscriber_id),
                    str(found["renewal_code"]),
                    str(postal_codes[subscriber_id]),
                    int(orders[subscriber_id] or 0),
                    int(lists[-1] or 0),
                    int(row[2] or 0),
                )
        raise BadInput("No subscriber has everything that the sample shows: make more of them.")

    def _rows(self, table: str) -> list[Row]:
        return list(self._state[table].values())

    def _night(self) -> _Rows:
        """Return the rows of this night and remember how each now stands."""
        tonight = {name: list(found) for name, found in self._readers.rows.items()}
        for name, found in tonight.items():
            self._readers.rows[name].clear()
            self._state[name].update((row[: _KEY_COLUMNS.get(name, 1)], row) for row in found)
        return tonight

    def _some(self, one_of: int) -> list[Reader]:
        """Return different readers, about one of so many and at least one where there are any."""
        picked = (
            self._readers.pick(self._known)
            for _ in range(min(len(self._known), 1 + len(self._known) // one_of))
        )
        return list({reader.subscriber_id: reader for reader in picked}.values())

    def _changes(self, night: int) -> None:
        """Make what those who were there before do on a night."""
        readers, rows = self._readers, self._readers.rows
        subscriptions = self._rows("subscriptions")
        picked = (readers.pick(subscriptions) for _ in range(len(subscriptions) // 250))
        for row in {row[0]: row for row in picked}.values():
            self._renew(_record("subscriptions", row))
        for reader in self._some(400):
            address = self._state["addresses"][(reader.address_id,)]
            rows["addresses"].append((*address[:5], *readers.whereabouts(reader.country)))
        for reader in self._some(500):
            readers.buy(reader, night)
        for reader in self._some(300):
            readers.answer(reader.subscriber_id)
        if night % _NIGHTS_BETWEEN_LISTS == 0:
            self._build_list(night)
            for reader in self._some(len(self._known)):
                subscriber = self._state["subscribers"][(reader.subscriber_id,)]
                now = self._publisher.calendar.time(night, 0.5)
                rows["subscribers"].append((*subscriber[:7], now))

    def _day(self, text: object) -> int:
        """Return the day of ``YYYY-MM-DD``, counted from the publisher's reference date."""
        return (date.fromisoformat(str(text)) - self._publisher.calendar.reference_date).days

    def _renew(self, subscription: _Record) -> None:
        """Renew a subscription for a year, unless it never expires."""
        if subscription["date_expired"] is None:
            return
        publication = self._publisher.publications[int(subscription["publication_id"] or 0) - 1]
        today = self._readers.today
        bundle_id, purchase_id, cents = self._readers.sell(
            self._known[int(subscription["subscriber_id"] or 0) - 1],
            publication,
            1,
            copies=int(subscription["copies"] or 0),
            day=today,
            shipping_id=int(subscription["mailing_address_id"] or 0),
            billing_id=int(subscription["billing_address_id"] or 0),
        )
        expires = max(today, self._day(subscription["date_expired"])) + 365
        unearned = int(str(subscription["unearned_revenue"] or "0.00").replace(".", "")) + cents
        renewed: _Record = {
            "issues": int(subscription["issues"] or 0) + publication.issues_per_year,
            "paid_issues_left": int(subscription["paid_issues_left"] or 0)
            + publication.issues_per_year,
            "unearned_revenue": f"{unearned // 100}.{unearned % 100:02}",
            "date_expired": self._publisher.calendar.day(expires),
            "date_last_renewed": self._publisher.calendar.day(today),
            "last_purchase_bundle_id": bundle_id,
            "last_purchase_id": purchase_id,
            "renew_campaign_active": 1,
        }
        self._readers.rows["subscriptions"].append(tuple((subscription | renewed).values()))

    def _build_list(self, night: int) -> None:
        """Build a mailing list for the next issue of one of the publications."""
        publications = self._publisher.publications
        publication = publications[night // _NIGHTS_BETWEEN_LISTS % len(publications)]
        made = self._publisher.next_list(publication, _FIRST_LIST_ID + night, night)
        deleted = {row[0] for row in self._rows("subscribers") if row[7]}
        for row in self._rows("subscriptions"):
            found = _record("subscriptions", row)
            if row[2] == publication.publication_id and row[1] not in deleted:
                expired = found["date_expired"]
                self._readers.enlist(
                    made,
                    int(row[0] or 0),
                    self._day(found["date_created"]),
                    None if expired is None else self._day(expired),
                    int(found["copies"] or 0),
                    found["last_purchase_id"] is not None,
                    str(found["type"]),
                )
        self._readers.rows["list_downloads"].append(self._readers.list_row(made))


_KEY_COLUMNS = {"subscription_issues": 2, "custom_field_answers": 2, "mailing_list_entries": 2}
