"""The usual alternative: FastAPI, SQLAlchemy's ORM and pydantic response models.

It returns the same bytes as Masthead for an order and for a list of subscriptions, from the same
tables. Its functions run where they are faster: in the event loop on SQLite, in threads on
PostgreSQL. It begins no transactions, which would cost some 8 % on PostgreSQL.
"""

import os
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import wraps
from typing import Annotated, Any, ParamSpec, TypeVar

from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPBasic, HTTPBasicCredentials
from pydantic import BaseModel, Field, PlainSerializer
from sqlalchemy import ForeignKeyConstraint, create_engine, select
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    Session,
    mapped_column,
    relationship,
    selectinload,
)

from benchmarks.databases import is_postgresql
from benchmarks.publisher import ACCOUNT_ID, KEY, LOGIN

_CONNECTIONS = 20
Given = ParamSpec("Given")
Result = TypeVar("Result")


class Base(DeclarativeBase):
    """The tables."""


class Credentials(Base):
    """An account's credentials in plain text, in their own table: Masthead encrypts them."""

    __tablename__ = "fastapi_credentials"
    api_key: Mapped[str] = mapped_column(primary_key=True)
    api_login: Mapped[str]
    account_id: Mapped[int]


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


Text = Annotated[str | None, PlainSerializer(lambda value: value or "")]
"""A missing value is the empty string."""

TextOrAbsent = Annotated[str | None, Field(exclude_if=lambda value: value is None)]
Amount = Annotated[str, PlainSerializer(lambda text: float(text) if "." in text else int(text))]


class Wire(BaseModel, from_attributes=True, coerce_numbers_to_str=True):
    """The base of the response models."""


class WireItem(Wire):
    """An order item: a bundle or a product."""

    order_item_id: str
    bundle_id: TextOrAbsent
    product_id: TextOrAbsent
    refund_date: str | None
    fulfilled_date: str | None
    sub_total: Amount
    tax_total: Amount
    grand_total: Amount


class WireOrder(Wire):
    """An order."""

    order_id: str
    mailing_address_id: Text
    billing_address_id: Text
    subscriber_id: str
    import_name: str | None
    user_id: str | None
    channel_id: str | None
    order_date: Text
    is_gift: bool
    sub_total: Amount
    tax_total: Amount
    grand_total: Amount
    order_items: list[WireItem]


class WireSubscription(Wire):
    """A subscription."""

    subscription_id: str
    publication_id: str
    mailing_address_id: Text
    billing_address_id: Text
    issues: Text
    copies: Text
    paid_issues_left: str | None
    unearned_revenue: str | None
    type: Text
    date_created: Text
    date_expired: str | None
    date_last_renewed: str | None
    last_purchase_bundle_id: str | None
    last_purchase_id: str | None
    renew_campaign_active: bool
    audit_classification: str | None
    audit_request_type: str | None


class WireSubscriptions(Wire):
    """A list of subscriptions."""

    subscriptions: list[WireSubscription]


def make_app() -> FastAPI:
    """Return the application over the database in MASTHEAD_DATABASE."""
    url = os.environ["MASTHEAD_DATABASE"]
    engine = create_engine(
        url.replace("postgresql:", "postgresql+psycopg:", 1),
        pool_size=_CONNECTIONS,
        isolation_level="AUTOCOMMIT",
    )
    Base.metadata.create_all(engine, [Base.metadata.tables[Credentials.__tablename__]])
    with Session(engine) as session:
        session.merge(Credentials(api_key=KEY, api_login=LOGIN, account_id=ACCOUNT_ID))
        session.commit()
    app = FastAPI()
    in_threads = is_postgresql(url)

    def where_faster(function: Callable[Given, Result]) -> Callable[Given, Any]:
        @wraps(function)
        async def in_event_loop(*given: Given.args, **named: Given.kwargs) -> Result:
            return function(*given, **named)

        return function if in_threads else in_event_loop

    def session_in_thread() -> Iterator[Session]:
        with Session(engine) as session:
            yield session

    async def session_in_event_loop() -> AsyncIterator[Session]:
        with Session(engine) as session:
            yield session

    session_of = session_in_thread if in_threads else session_in_event_loop

    @where_faster
    def account_id_of(
        session: Annotated[Session, Depends(session_of)],
        given: Annotated[HTTPBasicCredentials, Depends(HTTPBasic())],
    ) -> int:
        found = session.get(Credentials, given.username)
        if found is None or not secrets.compare_digest(found.api_login, given.password):
            raise HTTPException(403)
        return found.account_id

    @app.get("/2/orders/{order_id}", response_model=WireOrder)
    @where_faster
    def get_order(
        order_id: int,
        session: Annotated[Session, Depends(session_of)],
        account_id: Annotated[int, Depends(account_id_of)],
    ) -> Order:
        found = session.scalar(
            select(Order)
            .where(Order.account_id == account_id, Order.order_id == order_id)
            .options(selectinload(Order.order_items))
        )
        if found is None:
            raise HTTPException(404)
        return found

    @app.get("/2/subscriptions/", response_model=WireSubscriptions)
    @where_faster
    def list_subscriptions(
        session: Annotated[Session, Depends(session_of)],
        account_id: Annotated[int, Depends(account_id_of)],
        after: int = -1,
        limit: int = 100,
    ) -> dict[str, Sequence[Subscription]]:
        query = (
            select(Subscription)
            .where(Subscription.account_id == account_id, Subscription.subscription_id > after)
            .order_by(Subscription.subscription_id)
            .limit(limit)
        )
        return {"subscriptions": session.scalars(query).all()}

    return app
