"""Masthead's tables as models of SQLAlchemy's ORM: those of the peers on FastAPI and on Flask.

The account is in a table of the peers' own (``peer_accounts``), because Masthead's has its pair
sealed. A peer that began from nothing would have one table of accounts too.
"""

from sqlalchemy import (
    Column,
    Engine,
    ForeignKeyConstraint,
    Table,
    column,
    create_engine,
    select,
    table,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from benchmarks.publisher import ACCOUNT_ID, KEY, LOGIN

_CONNECTIONS = 20


class Base(DeclarativeBase):
    """The tables."""


class Account(Base):
    """A publisher's account with its pair in clear."""

    __tablename__ = "peer_accounts"
    account_id: Mapped[int] = mapped_column(primary_key=True)
    company_name: Mapped[str | None]
    email: Mapped[str | None]
    website: Mapped[str | None]
    active: Mapped[int]
    api_active: Mapped[int]
    api_key: Mapped[str | None] = mapped_column(index=True)
    api_login: Mapped[str | None]
    plan: Mapped[str | None]
    audit_type: Mapped[str | None]
    created: Mapped[str | None]
    master_checkout: Mapped[str | None]


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


class Issue(Base):
    """An issue of a publication."""

    __tablename__ = "issues"
    account_id: Mapped[int] = mapped_column(primary_key=True)
    issue_id: Mapped[int] = mapped_column(primary_key=True)
    publication_id: Mapped[int]
    name: Mapped[str | None]
    date: Mapped[str | None]


_received = Table(
    "subscription_issues",
    Base.metadata,
    Column("account_id", primary_key=True),
    Column("subscription_id", primary_key=True),
    Column("issue_id", primary_key=True),
    ForeignKeyConstraint(
        ["account_id", "subscription_id"],
        ["subscriptions.account_id", "subscriptions.subscription_id"],
    ),
    ForeignKeyConstraint(["account_id", "issue_id"], ["issues.account_id", "issues.issue_id"]),
)


class Subscription(Base):
    """A subscription."""

    __tablename__ = "subscriptions"
    __table_args__ = (
        ForeignKeyConstraint(
            ["account_id", "subscriber_id"],
            ["subscribers.account_id", "subscribers.subscriber_id"],
        ),
    )
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
    received_issues: Mapped[list[Issue]] = relationship(
        secondary=_received, order_by=Issue.issue_id, viewonly=True
    )


class Subscriber(Base):
    """A subscriber; ``email_lower`` is what the database computes for searches."""

    __tablename__ = "subscribers"
    account_id: Mapped[int] = mapped_column(primary_key=True)
    subscriber_id: Mapped[int] = mapped_column(primary_key=True)
    renewal_code: Mapped[str | None]
    email: Mapped[str | None]
    email_lower: Mapped[str | None]
    password_md5: Mapped[str | None]
    first_name: Mapped[str | None]
    last_name: Mapped[str | None]
    delete_date: Mapped[str | None]
    subscriptions: Mapped[list[Subscription]] = relationship(order_by=Subscription.subscription_id)


class CustomFieldOption(Base):
    """A preset answer of a custom field."""

    __tablename__ = "custom_field_options"
    __table_args__ = (
        ForeignKeyConstraint(
            ["account_id", "field_id"], ["custom_fields.account_id", "custom_fields.field_id"]
        ),
    )
    account_id: Mapped[int] = mapped_column(primary_key=True)
    option_id: Mapped[int] = mapped_column(primary_key=True)
    field_id: Mapped[int]
    value: Mapped[str | None]
    display_as: Mapped[str | None]
    order: Mapped[int | None]


class CustomField(Base):
    """A custom field and its preset answers."""

    __tablename__ = "custom_fields"
    account_id: Mapped[int] = mapped_column(primary_key=True)
    field_id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str | None]
    display_as: Mapped[str | None]
    type: Mapped[str]
    allow_other: Mapped[int]
    options: Mapped[list[CustomFieldOption]] = relationship(
        order_by=(CustomFieldOption.order.nulls_last(), CustomFieldOption.option_id)
    )


class CustomFieldAnswer(Base):
    """What a subscriber answered to one custom field; the ids of options are divided by ``|``."""

    __tablename__ = "custom_field_answers"
    account_id: Mapped[int] = mapped_column(primary_key=True)
    subscriber_id: Mapped[int] = mapped_column(primary_key=True)
    field_id: Mapped[int] = mapped_column(primary_key=True)
    option_ids: Mapped[str | None]
    text_value: Mapped[str | None]


def connected(database: str) -> Engine:
    """Return the engine of a database by Masthead's URL of it; it keeps its connections.

    It begins no transactions, which nothing that is only read needs: on PostgreSQL they cost the
    peers some 8 % of their rate.
    """
    url = database.replace("postgresql:", "postgresql+psycopg:", 1)
    return create_engine(url, pool_size=_CONNECTIONS, isolation_level="AUTOCOMMIT")


def prepare(database: str) -> None:
    """Make the peers' table of accounts, and in it the publisher's account."""
    engine = connected(database)
    accounts = table("accounts", *(column(each.name) for each in Account.__table__.columns))
    Base.metadata.create_all(engine, [Base.metadata.tables[Account.__tablename__]])
    with Session(engine) as session:
        its_row = select(accounts).where(accounts.c.account_id == ACCOUNT_ID)
        sealed = session.execute(its_row).mappings().one()
        session.merge(Account(**{**sealed, "api_key": KEY, "api_login": LOGIN}))
        session.commit()
    engine.dispose()
