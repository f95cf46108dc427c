"""What the peers on FastAPI and on Flask ask SQLAlchemy for: all that an answer needs, eagerly."""

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import md5

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session, selectinload

from benchmarks.peers.models import (
    Account,
    CustomField,
    CustomFieldAnswer,
    Order,
    Subscriber,
    Subscription,
)


def account_of(session: Session, key: str, login: str) -> Account | None:
    """Return the account that the pair opens."""
    found = session.scalar(select(Account).where(Account.api_key == key))
    if found is None or not (found.active and found.api_active and found.api_login):
        return None
    return found if secrets.compare_digest(found.api_login.encode(), login.encode()) else None


def order_of(session: Session, account_id: int, order_id: int) -> Order | None:
    """Return an order with its items."""
    return session.scalar(
        select(Order)
        .where(Order.account_id == account_id, Order.order_id == order_id)
        .options(selectinload(Order.order_items))
    )


def subscriptions_of(
    session: Session, account_id: int, *, after: int, limit: int
) -> Sequence[Subscription]:
    """Return the subscriptions behind the id ``after``."""
    return session.scalars(
        select(Subscription)
        .where(Subscription.account_id == account_id, Subscription.subscription_id > after)
        .order_by(Subscription.subscription_id)
        .limit(limit)
    ).all()


def answers_of(
    session: Session, account_id: int, subscriber_id: int
) -> list[tuple[CustomField, CustomFieldAnswer | None]] | None:
    """Return each custom field with the subscriber's answer; None where there is no such one."""
    known = select(Subscriber.subscriber_id).where(
        Subscriber.account_id == account_id, Subscriber.subscriber_id == subscriber_id
    )
    if session.scalar(known) is None:
        return None
    its_answer = and_(
        CustomFieldAnswer.account_id == CustomField.account_id,
        CustomFieldAnswer.subscriber_id == subscriber_id,
        CustomFieldAnswer.field_id == CustomField.field_id,
    )
    found = session.execute(
        select(CustomField, CustomFieldAnswer)
        .outerjoin(CustomFieldAnswer, its_answer)
        .where(CustomField.account_id == account_id)
        .order_by(CustomField.field_id)
        .options(selectinload(CustomField.options))
    )
    return [(field, answer) for field, answer in found]


def recognised(session: Session, account_id: int, login: str, password: str) -> Subscriber | None:
    """Return the subscriber whose email and password these are, with subscriptions and issues.

    Of several, as Masthead has it, one with a subscription that has not expired, then the lowest
    id. It neither knows the login by renewal code, nor counts those that fail.
    """
    today = datetime.now(UTC).date().isoformat()
    is_current = Subscriber.subscriptions.any(
        or_(Subscription.date_expired.is_(None), Subscription.date_expired >= today)
    )
    return session.scalar(
        select(Subscriber)
        .where(
            Subscriber.account_id == account_id,
            Subscriber.email_lower == login.lower(),
            Subscriber.password_md5 == md5(password.encode(), usedforsecurity=False).hexdigest(),
            Subscriber.delete_date.is_(None),
        )
        .order_by(is_current.desc(), Subscriber.subscriber_id)
        .limit(1)
        .options(selectinload(Subscriber.subscriptions).selectinload(Subscription.received_issues))
    )
