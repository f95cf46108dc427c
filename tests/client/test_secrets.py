"""No login, password or credential stands in a log, in an exception or in a repr."""

from __future__ import annotations

import base64
import logging
import traceback
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

import pytest

from masthead.client import requests
from masthead.client.responses import client_options
from masthead.contract.shapes import Account, ChangedSubscriber, Subscriber
from masthead.errors import MastheadError, ServiceError
from tests.client.service import HANGS_UP, Answering, Asked, Reply, Serve, in_turn, refused, reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from masthead import Client
    from tests.client.flavours import Connect

KEY, LOGIN = "key-7f3a", "login/8b=2c"
READER, PASSWORD = "mira+1@reader.example", "pä ss?w&rd'\"9"

SECRETS = [
    written
    for secret in (KEY, LOGIN, READER, PASSWORD)
    for written in (secret, quote(secret), quote(secret, safe=""), quote_plus(secret))
] + [base64.b64encode(f"{KEY}:{LOGIN}".encode()).decode(), "pä", "p%C3%A4", "reader.example"]


def shown(text: str) -> list[str]:
    """Return the secrets that a text shows."""
    return [secret for secret in SECRETS if secret in text]


def with_a_slash(asked: Asked) -> Reply:
    """Redirect once, with login and password in the address of the redirect."""
    if asked.path.endswith("//"):
        return reply({"authenticated": False})
    path, _, query = asked.target.partition("?")
    headers = {"Location": f"{path}/?{query}", "Link": f'<?{query}>; rel="self"'}
    return Reply(status=308, headers=headers)


def to_another_place(asked: Asked) -> Reply:
    """Redirect to another host, with login and password in its address."""
    query = asked.target.partition("?")[2]
    return Reply(status=302, headers={"location": f"https://other.example/login?{query}"})


def saying_it_all(asked: Asked) -> Reply:
    """Refuse in a sentence that repeats what was asked, and who asked."""
    login, password = asked.parameters["login"], asked.parameters["password"]
    return refused(400, f"{login} with {password}: unknown to {KEY} {LOGIN}")


ANSWERS: dict[str, Callable[[], Answering]] = {
    "a redirect that is followed": lambda: with_a_slash,
    "a redirect that is not": lambda: to_another_place,
    "a refusal that repeats it all": lambda: saying_it_all,
    "nobody's": lambda: in_turn(reply({"authenticated": False})),
    "busy": lambda: in_turn(refused(503)),
    "busy once": lambda: in_turn(refused(429, Retry_After="0"), reply({"authenticated": False})),
    "none": lambda: in_turn(HANGS_UP),
    "no JSON": lambda: in_turn(Reply("<html>")),
    "no id": lambda: in_turn(
        reply({"authenticated": True, "subscribers": {"subscriber_id": None, "email": READER}})
    ),
}


@pytest.mark.parametrize("response", ANSWERS.values(), ids=ANSWERS)
def test_a_login_check_leaves_no_trace(
    connect: Connect,
    serve: Serve,
    caplog: pytest.LogCaptureFixture,
    response: Callable[[], Answering],
) -> None:
    service = serve(response())
    client = connect(service.url, KEY, LOGIN, patience_s=0.5)
    said = ""
    with caplog.at_level(logging.DEBUG):
        try:
            client.authenticate(READER, PASSWORD)
        except MastheadError as error:
            said = "".join(traceback.format_exception(error)) + repr(error) + repr(error.__dict__)
    assert service.asked[-1].parameters == {"login": READER, "password": PASSWORD}
    assert "httpcore2.http11" in {record.name for record in caplog.records}
    assert shown(said) == []
    assert shown(caplog.text) == []
    assert shown("".join(repr(vars(record)) for record in caplog.records)) == []


def test_a_list_by_email_leaves_no_trace_of_the_email(
    connect: Connect, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    following = f'<?email={quote(READER)}&after=1>; rel="next"'
    first = Reply('{"subscribers": [{"subscriber_id": "1"}]}', headers={"Link": following})
    service = serve(in_turn(first, reply({"subscribers": []})))
    with caplog.at_level(logging.DEBUG):
        found = list(connect(service.url, KEY, LOGIN).search_subscribers(email=READER))
    assert len(found) == 1
    assert service.asked[1].parameters == {"email": READER, "after": "1"}
    assert shown(caplog.text) == []


def test_the_path_is_logged_for_debugging(
    connect: Connect, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    service = serve(in_turn(reply({"authenticated": False})))
    with caplog.at_level(logging.INFO):
        connect(service.url).authenticate(READER, PASSWORD)
    assert f"GET {service.url}/2/subscribers/authenticate/ " in caplog.text


def test_a_refusal_names_its_cause_without_the_secrets(connect: Connect, serve: Serve) -> None:
    with pytest.raises(ServiceError) as caught:
        connect(serve(saying_it_all).url, KEY, LOGIN).authenticate(READER, PASSWORD)
    assert caught.value.message == "… with …: unknown to … …"


def client_of(connect: Connect) -> Client:
    """Return a client that nothing answers."""
    return connect("http://127.0.0.1:9", KEY, LOGIN)


def test_nothing_secret_is_in_a_repr(connect: Connect) -> None:
    client = client_of(connect)
    request = requests.authenticate(READER, PASSWORD)
    for thing in (client, vars(client), request, client_options("http://x", KEY, LOGIN, 1.0)):
        assert shown(repr(thing)) == []
    assert repr(request) == "<Request /2/subscribers/authenticate/>"


def test_records_do_not_show_credentials_and_digests_in_a_repr() -> None:
    """decisions, "Passwords": digests are worth stealing."""
    account = Account(1, "Press", None, None, True, True, KEY, LOGIN, None, None, None, None)
    assert shown(repr(account)) == []
    assert repr(account).startswith("Account(account_id=1, company_name='Press', ")
    assert "api_key=…, api_login=…" in repr(account)
    digest = "5ebe2294ecd0e0f08eab7690d2a6ee69"
    for subscriber in (
        Subscriber(1, "A", None, digest, None, None, None, None),
        ChangedSubscriber(1, "A", None, digest, None, None, None, None, None),
    ):
        assert digest not in repr(subscriber)
        assert "renewal_code='A', email=None, password_md5=…" in repr(subscriber)
