"""What a user would build instead: Flask and SQLAlchemy's ORM, on gunicorn.

Models, queries and answers are those of the peer on FastAPI. The answers are written by pydantic,
which is the fastest way that Flask's users commonly have.
"""

import os

from flask import Flask, Response, abort, g, request
from pydantic import BaseModel, TypeAdapter
from sqlalchemy.orm import Session

from benchmarks.peers import queries
from benchmarks.peers.models import connected
from benchmarks.peers.wire import (
    WireAnswer,
    WireLogin,
    WireOneAccount,
    WireOrder,
    WireSubscriber,
    WireSubscriptions,
    answer_sets,
)

engine = connected(os.environ["MASTHEAD_DATABASE"])
app = Flask(__name__)
_ANSWERS = TypeAdapter(list[WireAnswer])


@app.before_request
def open_session() -> None:
    """Lend a session to the request, and find the account that the credentials open."""
    g.session = Session(engine)
    given = request.authorization
    if given is None or given.username is None or given.password is None:
        abort(401)
    found = queries.account_of(g.session, given.username, given.password)
    if found is None:
        abort(403)
    g.caller = found


@app.teardown_request
def close_session(_fault: BaseException | None) -> None:
    """Give the connection back."""
    g.session.close()


def answered(found: BaseModel) -> Response:
    """Return a model as JSON."""
    return Response(found.model_dump_json(), mimetype="application/json")


@app.get("/2/accounts/<int:account_id>/")
def get_account(account_id: int) -> Response:
    """Answer the caller's own account."""
    if account_id != g.caller.account_id:
        abort(404)
    return answered(WireOneAccount.model_validate({"account": g.caller}))


@app.get("/2/orders/<int:order_id>")
def get_order(order_id: int) -> Response:
    """Answer one order."""
    found = queries.order_of(g.session, g.caller.account_id, order_id)
    if found is None:
        abort(404)
    return answered(WireOrder.model_validate(found))


@app.get("/2/subscriptions/")
def list_subscriptions() -> Response:
    """Answer the subscriptions behind the id ``after``."""
    after = request.args.get("after", -1, int)
    limit = request.args.get("limit", 100, int)
    found = queries.subscriptions_of(g.session, g.caller.account_id, after=after, limit=limit)
    return answered(WireSubscriptions.model_validate({"subscriptions": found}))


@app.get("/2/customfields/<int:subscriber_id>")
def get_answers(subscriber_id: int) -> Response:
    """Answer what a subscriber answered to each custom field."""
    found = queries.answers_of(g.session, g.caller.account_id, subscriber_id)
    if found is None:
        abort(404)
    return Response(_ANSWERS.dump_json(answer_sets(found)), mimetype="application/json")


@app.get("/2/subscribers/authenticate/")
def authenticate() -> Response:
    """Answer whose email and password these are."""
    login, password = request.args.get("login", ""), request.args.get("password", "")
    found = queries.recognised(g.session, g.caller.account_id, login, password)
    if found is None:
        return answered(WireLogin(authenticated=False))
    recognised = WireSubscriber.model_validate(found)
    return answered(WireLogin(authenticated=True, subscribers=recognised))
