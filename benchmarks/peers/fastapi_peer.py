"""What a user would build instead: FastAPI, SQLAlchemy's ORM and pydantic response models.

Its functions run in the event loop, although their queries block, or in threads, as FastAPI runs
those that are not ``async``. Which gives more answers depends on the database: on SQLite, whose
queries take microseconds, the event loop, on PostgreSQL threads (docs/performance.md). PEER_IN in
the environment (``threads`` or ``event-loop``) tries the other way.
"""

import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import wraps
from typing import Annotated, Any, ParamSpec, TypeVar

from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPBasic, HTTPBasicCredentials
from sqlalchemy.orm import Session

from benchmarks.databases import is_postgresql
from benchmarks.peers import queries
from benchmarks.peers.models import Account, Order, Subscription, connected
from benchmarks.peers.wire import (
    WireAnswer,
    WireLogin,
    WireOneAccount,
    WireOrder,
    WireSubscriber,
    WireSubscriptions,
    answer_sets,
)

_DATABASE = os.environ["MASTHEAD_DATABASE"]
engine = connected(_DATABASE)
app = FastAPI()
IN_THREADS = (
    os.environ.get("PEER_IN", "threads" if is_postgresql(_DATABASE) else "event-loop") == "threads"
)
Given = ParamSpec("Given")
Result = TypeVar("Result")


def where_chosen(function: Callable[Given, Result]) -> Callable[Given, Any]:
    """Let a function run where it gives more answers."""
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


Database = Annotated[Session, Depends(session_in_thread if IN_THREADS else session_in_event_loop)]


@where_chosen
def account(
    database: Database, given: Annotated[HTTPBasicCredentials, Depends(HTTPBasic())]
) -> Account:
    """Return the account that the credentials open."""
    found = queries.account_of(database, given.username, given.password)
    if found is None:
        raise HTTPException(403)
    return found


Caller = Annotated[Account, Depends(account)]


@app.get("/2/accounts/{account_id}/", response_model=WireOneAccount)
@where_chosen
def get_account(account_id: int, caller: Caller) -> dict[str, Account]:
    """Answer the caller's own account."""
    if account_id != caller.account_id:
        raise HTTPException(404)
    return {"account": caller}


@app.get("/2/orders/{order_id}", response_model=WireOrder)
@where_chosen
def get_order(order_id: int, database: Database, caller: Caller) -> Order:
    """Answer one order."""
    found = queries.order_of(database, caller.account_id, order_id)
    if found is None:
        raise HTTPException(404)
    return found


@app.get("/2/subscriptions/", response_model=WireSubscriptions)
@where_chosen
def list_subscriptions(
    database: Database, caller: Caller, after: int = -1, limit: int = 100
) -> dict[str, Sequence[Subscription]]:
    """Answer the subscriptions behind the id ``after``."""
    found = queries.subscriptions_of(database, caller.account_id, after=after, limit=limit)
    return {"subscriptions": found}


@app.get("/2/customfields/{subscriber_id}")
@where_chosen
def get_answers(subscriber_id: int, database: Database, caller: Caller) -> list[WireAnswer]:
    """Answer what a subscriber answered to each custom field."""
    found = queries.answers_of(database, caller.account_id, subscriber_id)
    if found is None:
        raise HTTPException(404)
    return answer_sets(found)


@app.get("/2/subscribers/authenticate/")
@where_chosen
def authenticate(
    database: Database, caller: Caller, login: str = "", password: str = ""
) -> WireLogin:
    """Answer whose email and password these are."""
    found = queries.recognised(database, caller.account_id, login, password)
    if found is None:
        return WireLogin(authenticated=False)
    return WireLogin(authenticated=True, subscribers=WireSubscriber.model_validate(found))
