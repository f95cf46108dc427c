"""What a user would build instead: FastAPI, SQLAlchemy's ORM and pydantic response models.

A service over Masthead's own database, with the same answers, byte for byte, to an order and to a
list of 100 subscriptions, behind the same credentials.

Its functions run in the event loop, although their queries block, or with PEER_IN=threads in the
environment in threads, as FastAPI runs those that are not ``async``. Which gives more answers
depends on the database: the benchmark tries both, and goes on with the better one.
"""

import os
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from functools import wraps
from typing import Annotated, Any, ParamSpec, TypeVar

from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPBasic, HTTPBasicCredentials
from pydantic import BaseModel, field_serializer, model_serializer
from sqlalchemy import ForeignKeyConstraint, create_engine, select
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    Session,
    mapped_column,
    relationship,
    selectinload,
)

from benchmarks.publisher import ACCOUNT_ID, KEY, LOGIN

engine = create_engine(os.environ["MASTHEAD_DATABASE"], pool_size=20)
app = FastAPI()
IN_THREADS = os.environ.get("PEER_IN") == "threads"
Given = ParamSpec("Given")
Result = TypeVar("Result")


class Base(DeclarativeBase):
    """The tables."""


class Account(Base):
    """A publisher's account, in a table of the peer's own: Masthead's has its secrets sealed."""

    __tablename__ = "peer_accounts"
    account_id: Mapped[int] = mapped_column(primary_key=True)
    api_key: Mapped[str | None] = mapped_column(index=True)
    api_login: Mapped[str | None]
    active: Mapped[int]
    api_active: Mapped[int]


class OrderItem(Base):
    """An item of an order."""

    __tablename__ = "order_items"
    __table_args__ = (
        ForeignKeyConstraint(["account_id", "order_id"], ["orders.account_id", "orders.order_id"]),
    )
    account_id: Mapped[int] = mapped_column(primary_key=True)
    order_item_id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int]
    bundle_id: Mapped[int | None]
    product_id: Mapped[int | None]
    refund_date: Mapped[str | None]
    fulfilled_date: Mapped[str | None]
    sub_total: Mapped[str]
    tax_total: Mapped[str]
    grand_total: Mapped[str]


class Order(Base):
    """An order."""

    __tablename__ = "orders"
    account_id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(primary_key=True)
    mailing_address_id: Mapped[int | None]
    billing_address_id: Mapped[int | None]
    subscriber_id: Mapped[int]
    import_name: Mapped[str | None]
    user_id: Mapped[int | None]
    channel_id: Mapped[int | None]
    order_date: Mapped[str | None]
    is_gift: Mapped[int]
    sub_total: Mapped[str]
    tax_total: Mapped[str]
    grand_total: Mapped[str]
    order_items: Mapped[list[OrderItem]] = relationship(order_by=OrderItem.order_item_id)


class Subscription(Base):
    """A subscription."""

    __tablename__ = "subscriptions"
    account_id: Mapped[int] = mapped_column(primary_key=True)
    subscription_id: Mapped[int] = mapped_column(primary_key=True)
    subscriber_id: Mapped[int]
    publication_id: Mapped[int]
    mailing_address_id: Mapped[int | None]
    billing_address_id: Mapped[int | None]
    issues: Mapped[int | None]
    copies: Mapped[int | None]
    paid_issues_left: Mapped[int | None]
    unearned_revenue: Mapped[str | None]
    type: Mapped[str | None]
    date_created: Mapped[str | None]
    date_expired: Mapped[str | None]
    date_last_renewed: Mapped[str | None]
    last_purchase_bundle_id: Mapped[int | None]
    last_purchase_id: Mapped[int | None]
    renew_campaign_active: Mapped[int]
    audit_classification: Mapped[str | None]
    audit_request_type: Mapped[str | None]


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


class Wire(BaseModel, from_attributes=True, coerce_numbers_to_str=True):
    """What the answers have in common."""


class WireItem(Wire):
    """An order item as it is answered."""

    order_item_id: str
    bundle_id: str | None
    product_id: str | None
    refund_date: str | None
    fulfilled_date: str | None
    sub_total: str
    tax_total: str
    grand_total: str

    @model_serializer(mode="wrap")
    def without_the_other_id(self, serialize: Any) -> dict[str, Any]:
        """Leave out the id that the item does not have."""
        item: dict[str, Any] = serialize(self)
        item.pop("product_id" if self.product_id is None else "bundle_id")
        return item

    @field_serializer("sub_total", "tax_total", "grand_total")
    def as_number(self, value: str) -> int | float:
        """Write an amount as a number."""
        return _number(value)


class WireOrder(Wire):
    """An order as it is answered."""

    order_id: str
    mailing_address_id: str | None
    billing_address_id: str | None
    subscriber_id: str
    import_name: str | None
    user_id: str | None
    channel_id: str | None
    order_date: str | None
    is_gift: bool
    sub_total: str
    tax_total: str
    grand_total: str
    order_items: list[WireItem]

    @field_serializer("mailing_address_id", "billing_address_id", "order_date")
    def as_text(self, value: str | None) -> str:
        """Write a missing value as the empty string."""
        return value or ""

    @field_serializer("sub_total", "tax_total", "grand_total")
    def as_number(self, value: str) -> int | float:
        """Write an amount as a number."""
        return _number(value)


class WireSubscription(Wire):
    """A subscription as it is answered."""

    subscription_id: str
    publication_id: str
    mailing_address_id: str | None
    billing_address_id: str | None
    issues: str | None
    copies: str | None
    paid_issues_left: str | None
    unearned_revenue: str | None
    type: str | None
    date_created: str | None
    date_expired: str | None
    date_last_renewed: str | None
    last_purchase_bundle_id: str | None
    last_purchase_id: str | None
    renew_campaign_active: bool
    audit_classification: str | None
    audit_request_type: str | None

    @field_serializer(
        "mailing_address_id", "billing_address_id", "issues", "copies", "type", "date_created"
    )
    def as_text(self, value: str | None) -> str:
        """Write a missing value as the empty string."""
        return value or ""


class WireSubscriptions(Wire):
    """The envelope of a list."""

    subscriptions: list[WireSubscription]


def where_chosen(function: Callable[Given, Result]) -> Callable[Given, Any]:
    """Let a function run where the environment says."""
    if IN_THREADS:
        return function

    @wraps(function)
    async def in_event_loop(*given: Given.args, **named: Given.kwargs) -> Result:
        return function(*given, **named)

    return in_event_loop


def session_in_thread() -> Iterator[Session]:
    """Lend a session to a request."""
    with Session(engine) as found:
        yield found


async def session_in_event_loop() -> AsyncIterator[Session]:
    """Lend a session to a request."""
    with Session(engine) as found:
        yield found


Base.metadata.create_all(engine)
with Session(engine) as _session:
    _session.merge(
        Account(account_id=ACCOUNT_ID, api_key=KEY, api_login=LOGIN, active=1, api_active=1)
    )
    _session.commit()

Database = Annotated[Session, Depends(session_in_thread if IN_THREADS else session_in_event_loop)]


@where_chosen
def account(
    database: Database, given: Annotated[HTTPBasicCredentials, Depends(HTTPBasic())]
) -> Account:
    """Return the account that the credentials open."""
    found = database.scalar(select(Account).where(Account.api_key == given.username))
    if found is None or not (found.active and found.api_active and found.api_login):
        raise HTTPException(403)
    if not secrets.compare_digest(found.api_login.encode(), given.password.encode()):
        raise HTTPException(403)
    return found


Caller = Annotated[Account, Depends(account)]


@app.get("/2/orders/{order_id}", response_model=WireOrder)
@where_chosen
def get_order(order_id: int, database: Database, caller: Caller) -> Order:
    """Answer one order."""
    found = database.scalar(
        select(Order)
        .where(Order.account_id == caller.account_id, Order.order_id == order_id)
        .options(selectinload(Order.order_items))
    )
    if found is None:
        raise HTTPException(404)
    return found


@app.get("/2/subscriptions/", response_model=WireSubscriptions)
@where_chosen
def list_subscriptions(
    database: Database, caller: Caller, after: int = -1, limit: int = 100
) -> dict[str, Any]:
    """Answer the subscriptions behind the id ``after``."""
    found = database.scalars(
        select(Subscription)
        .where(Subscription.account_id == caller.account_id, Subscription.subscription_id > after)
        .order_by(Subscription.subscription_id)
        .limit(limit)
    )
    return {"subscriptions": list(found)}
