"""Handing mails to a server by SMTP (billing, "E-mail")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.errors import BadInput
from masthead.mail.smtp import (
    ConnectionLost,
    NotHandedOver,
    Refused,
    ServerUnusable,
    Session,
    Timeouts,
)
from masthead.mail.smtp_url import Server, server_of
from tests.mail.servers import PASSWORD, certificate, check_login, post_office

if TYPE_CHECKING:
    from pathlib import Path

    from masthead.mail.smtp_url import Tls

SENDER = "press@example.org"
MAIL = b"Subject: Tide\r\n\r\nfirst\r\n.second\r\n..third\r\n"
QUICK = Timeouts(command=30, end=0.2)


def always() -> bool:
    return True


def test_a_mail_arrives_as_it_is() -> None:
    with post_office() as (office, server), Session(server) as session:
        session.hand_over(SENDER, "ada@example.org", MAIL, always)
        session.hand_over(SENDER, "ben@example.org", MAIL, always)
    assert office.recipients == ["ada@example.org", "ben@example.org"]
    assert office.mails[0].sender == SENDER
    assert office.mails[0].content == MAIL


def test_a_refused_mail_says_why_and_the_next_one_goes() -> None:
    with post_office() as (office, server), Session(server) as session:
        with pytest.raises(Refused, match=r"450 4\.2\.0 busy") as later:
            session.hand_over(SENDER, "later@example.org", MAIL, always)
        with pytest.raises(Refused, match=r"550 5\.1\.1") as gone:
            session.hand_over(SENDER, "gone@example.org", MAIL, always)
        with pytest.raises(Refused, match=r"554 5\.7\.1") as spam:
            session.hand_over(SENDER, "spam@example.org", MAIL, always)
        with pytest.raises(Refused, match=r"452 4\.3\.1") as full:
            session.hand_over(SENDER, "full@example.org", MAIL, always)
        session.hand_over(SENDER, "ada@example.org", MAIL, always)
    found = [each.value for each in (later, gone, spam, full)]
    assert [each.is_permanent for each in found] == [False, True, True, False]
    assert [each.is_unknown_address for each in found] == [False, True, False, False]
    assert office.recipients == ["ada@example.org"]


def test_a_connection_that_breaks_within_a_mail_leaves_no_doubt() -> None:
    with post_office() as (office, server), Session(server) as session:
        with pytest.raises(ConnectionLost) as lost:
            # Larger than what the system keeps of it, so that it cannot be written to the end.
            session.hand_over(SENDER, "break@example.org", MAIL * 1_000_000, always)
        assert not lost.value.is_uncertain
    assert office.mails == []


def test_a_connection_that_breaks_before_the_answer_leaves_it_uncertain() -> None:
    with post_office() as (office, server), Session(server) as session:
        with pytest.raises(ConnectionLost) as lost:
            session.hand_over(SENDER, "vanish@example.org", MAIL, always)
        assert lost.value.is_uncertain
    assert office.recipients == ["vanish@example.org"]


def test_a_server_that_never_answers_the_end_leaves_it_uncertain() -> None:
    with post_office() as (_, server), Session(server, QUICK) as session:
        with pytest.raises(ConnectionLost, match="timed out") as lost:
            session.hand_over(SENDER, "silent@example.org", MAIL, always)
        assert lost.value.is_uncertain


def test_a_mail_that_is_not_to_be_ended_does_not_arrive() -> None:
    with (
        post_office() as (office, server),
        pytest.raises(NotHandedOver),
        Session(server) as session,
    ):
        session.hand_over(SENDER, "ada@example.org", MAIL, lambda: False)
    assert office.data_begun == ["ada@example.org"]
    assert office.mails == []


def test_a_program_that_ends_within_a_mail_sends_no_command_as_text() -> None:
    def end() -> bool:
        raise KeyboardInterrupt

    with (
        post_office() as (office, server),
        pytest.raises(KeyboardInterrupt),
        Session(server) as session,
    ):
        session.hand_over(SENDER, "ada@example.org", MAIL, end)
    assert office.mails == []


def test_a_server_that_closes_takes_no_mails() -> None:
    with (
        post_office() as (_, server),
        pytest.raises(ServerUnusable, match=r"127\.0\.0\.1, port \d+ takes no mails now: 421"),
        Session(server) as session,
    ):
        session.hand_over(SENDER, "closing@example.org", MAIL, always)


def test_a_server_that_is_not_there_takes_no_mails() -> None:
    with post_office() as (_, server):
        pass
    with pytest.raises(ServerUnusable, match="Connection refused"), Session(server):
        pass


@pytest.mark.parametrize("tls", ["starttls", "from the start"])
def test_a_login_goes_by_tls(tls: Tls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, context = certificate(tmp_path)
    options: dict[str, Any] = (
        {"begins_with_tls": context, "auth_require_tls": False}
        if tls == "from the start"
        else {"tls_context": context, "require_starttls": True, "auth_required": True}
    )
    with post_office(authenticator=check_login, **options) as (office, plain):
        server = plain._replace(tls=tls, user="press", password=PASSWORD)
        with pytest.raises(ServerUnusable, match="certificate verify failed"), Session(server):
            pass
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
        with Session(server) as session:
            session.hand_over(SENDER, "ada@example.org", MAIL, always)
        wrong = server._replace(password="guess")
        with pytest.raises(ServerUnusable, match="535") as refused, Session(wrong):
            pass
        assert "guess" not in str(refused.value)
        beyond = server._replace(password="Schlüssel")
        with pytest.raises(ServerUnusable, match="beyond ASCII cannot be sent"), Session(beyond):
            pass
    assert office.recipients == ["ada@example.org"]


def test_a_server_without_tls_gets_nothing() -> None:
    with post_office() as (office, plain):
        server = plain._replace(tls="starttls")
        with pytest.raises(ServerUnusable, match="it has no TLS"), Session(server):
            pass
    assert office.mails == []


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://mail.example.org", Server("mail.example.org", 587, "starttls")),
        ("smtps://mail.example.org/", Server("mail.example.org", 465, "from the start")),
        ("smtp://localhost:25", Server("localhost", 25, "none")),
        ("smtp://127.0.0.2:1025", Server("127.0.0.2", 1025, "none")),
        ("smtps://localhost", Server("localhost", 465, "from the start")),
        (
            "smtp://a%40b:p%2Fw%3A@mail.example.org:2525\n",
            Server("mail.example.org", 2525, "starttls", "a@b", "p/w:"),
        ),
    ],
)
def test_a_url_says_where_the_server_is(url: str, server: Server) -> None:
    assert server_of(url) == server


@pytest.mark.parametrize(
    "url",
    [
        "mail.example.org",
        "https://mail.example.org",
        "smtp://:secret@",
        "smtp://u:sec/ret@mail.example.org",
        "smtp://u:secret@mail.example.org:port",
        "smtp://u:secret@mail.example.org/?x",
        "smtp://u:secret@[::1",
        "smtp://u:secret@mail..example.org",
        f"smtp://u:secret@{'m' * 64}.example.org",
        "smtp://u:secret@\udcff",
    ],
)
def test_a_bad_url_is_refused_without_its_secret(url: str) -> None:
    with pytest.raises(BadInput, match="URL of the mail server") as refused:
        server_of(url)
    assert "sec" not in str(refused.value)
