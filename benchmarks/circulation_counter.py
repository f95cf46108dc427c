"""Operations at the counter and on the telephone, one reader after the other."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.circulation_data import LENGTHS, nth_subscriber
from benchmarks.publisher import ACCOUNT_ID
from masthead.books import Books, orders, payments, subscribers, subscriptions
from masthead.books.subscribers import Sought
from masthead.circulation.ordering import Item, Order, Person
from masthead.store import Connection, Store
from masthead.store.audit import Actor
from masthead.store.books.operation import Operation, operation

SUBSCRIBERS = 200


class Counter:
    """The operations, each for a number from 0 on; ``count`` is the number of readers."""

    def __init__(self, store: Store, count: int) -> None:
        self._store = store
        self._subscribers = [
            nth_subscriber(number, SUBSCRIBERS, count) for number in range(SUBSCRIBERS)
        ]
        self._orders: list[int] = []

    @property
    def operations(self) -> dict[str, Callable[[int], object]]:
        """The operations by title, in an order in which they can run."""
        return {
            "`order add` of somebody new, paid": self.order_of_somebody_new,
            "`order add` of a reader, not paid": self.order_of_a_reader,
            "`order show`": self.show_order,
            "`order pay`": self.pay,
            "`subscription suspend`": self.suspend,
            "`subscription show`": self.show_subscription,
            "`subscriber find --name`": self.find_by_name,
            "`subscriber find --order`": self.find_by_order,
        }

    def order_of_somebody_new(self, number: int) -> None:
        """Take a paid order from a new reader."""
        address = {"address": f"{number} New Street", "city": "Salem", "zip_code": "97301"}
        person = Person(email=f"new{number}@example.org", last_name="New", address=address)
        self._order(person, is_paid=True)

    def order_of_a_reader(self, number: int) -> None:
        """Take an unpaid order from a known reader."""
        self._order(Person(subscriber_id=self._subscribers[number]), is_paid=False)

    def _order(self, person: Person, *, is_paid: bool) -> None:
        order = Order(person, (Item(bundle_id=LENGTHS[1]),), is_paid=is_paid)
        self._orders.append(orders.place(self._books("order add"), order).order_id)

    def pay(self, number: int) -> None:
        """Record the payment of one of the unpaid orders, the last one first."""
        payments.pay(self._books("order pay"), self._orders[-1 - number])

    def suspend(self, number: int) -> None:
        """Suspend a subscription for a month."""
        books = Books(self._store, ACCOUNT_ID, Actor("benchmark", "subscription suspend"))
        subscriptions.suspend(books, self._subscribers[number], "2027-06-01", "2027-06-30")

    def show_order(self, number: int) -> Any:
        """Show one of the orders taken."""
        return orders.show(Books(self._store, ACCOUNT_ID), self._orders[number])

    def show_subscription(self, number: int) -> Any:
        """Show a subscription."""
        return subscriptions.show(Books(self._store, ACCOUNT_ID), self._subscribers[number])

    def find_by_name(self, number: int) -> None:
        """Find a reader by first and last name."""
        reader = self._subscribers[number]
        self._find(Sought(name=f"First{reader % 1_000} Last{reader % 50_000}"))

    def find_by_order(self, number: int) -> None:
        """Find a reader by the reference of an order."""
        self._find(Sought(order=f"WEB-{self._subscribers[number]}"))

    def _find(self, sought: Sought) -> None:
        if not subscribers.find(Books(self._store, ACCOUNT_ID), sought, limit=20):
            raise SystemExit(f"nobody is found by {sought}")

    def _books(self, command: str) -> Books:
        return Books(self._store, ACCOUNT_ID, Actor("benchmark", command))

    @contextmanager
    def _writing(self, command: str) -> Iterator[Operation]:
        with operation(self._store, ACCOUNT_ID, Actor("benchmark", command)) as books:
            books.say(command)
            yield books

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._store.writer() as connection, connection.read_snapshot():
            yield connection
