"""Mails as bytes: whatever names and texts have, headers stay as they were meant."""

from __future__ import annotations

import re
from email import message_from_bytes
from email.policy import default

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.contract.printable import on_terminal, printable, single_spaced
from masthead.errors import BadInput
from masthead.mail.addresses import for_server, is_address, without
from masthead.mail.messages import Attachment, Message, bytes_of, needs_utf8

PLAIN = Message(
    sender="press@example.org",
    sender_name="Tide Press",
    recipient="ada@example.org",
    subject="Invoice 1",
    text="Good day,\n\nattached is invoice 1.\n",
    message_id="<1@example.org>",
    moment_us=1_776_254_400_000_000,
    language="en",
)
HEADERS = [
    *("From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "Content-Language"),
    *("Content-Type", "Content-Transfer-Encoding", "MIME-Version"),
]
any_text = st.text(
    st.characters() | st.sampled_from('\r\n\t\0\x85\u2028\u2029\ud800:;<>@",\\=?_. äß€'),
    max_size=300,
)


def parsed(message: Message):  # type: ignore[no-untyped-def]  # noqa: ANN201 - many accessors
    return message_from_bytes(bytes_of(message), policy=default)


def test_a_mail_has_its_headers_and_a_plain_text() -> None:
    mail = parsed(PLAIN)
    assert sorted(mail.keys()) == sorted(HEADERS)
    assert mail["From"] == "Tide Press <press@example.org>"
    assert mail["To"] == "ada@example.org"
    assert mail["Date"] == "Wed, 15 Apr 2026 12:00:00 +0000"
    assert mail["Message-ID"] == "<1@example.org>"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail.get_content_type() == "text/plain"
    assert mail.get_content().replace("\r\n", "\n") == PLAIN.text


def test_a_document_is_attached_beside_the_text() -> None:
    message = PLAIN._replace(attachments=(Attachment("R-1.pdf", b"%PDF-1.7\r\n.\r\n"),))
    mail = parsed(message)
    assert mail.get_body().get_content().replace("\r\n", "\n") == PLAIN.text
    (attached,) = mail.iter_attachments()
    assert attached.get_filename() == "R-1.pdf"
    assert attached.get_content_type() == "application/pdf"
    assert attached.get_content() == b"%PDF-1.7\r\n.\r\n"
    assert bytes_of(message) == bytes_of(message)


def test_a_mail_that_may_be_refused_says_where() -> None:
    mail = parsed(PLAIN._replace(reply_to="desk@example.org", unsubscribe="desk@example.org"))
    assert mail["Reply-To"] == "desk@example.org"
    assert mail["List-Unsubscribe"] == "<mailto:desk@example.org?subject=unsubscribe>"


@given(subject=any_text, name=any_text, text=any_text, file=any_text)
def test_no_text_becomes_a_header_or_another_recipient(
    subject: str, name: str, text: str, file: str
) -> None:
    message = PLAIN._replace(
        subject=subject,
        sender_name=name,
        text=text,
        attachments=(Attachment(file, b"%PDF"),),
    )
    content = bytes_of(message)
    assert content.isascii()
    assert not re.search(rb"\r(?!\n)|(?<!\r)\n", content)
    head = content.partition(b"\r\n\r\n")[0]
    names = re.findall(rb"^([A-Za-z-]+):", head, re.MULTILINE)
    assert sorted(each.decode() for each in names) == sorted(
        each for each in HEADERS if each != "Content-Transfer-Encoding"
    )
    mail = message_from_bytes(content, policy=default)
    assert [each.addr_spec for each in mail["To"].addresses] == ["ada@example.org"]
    assert [each.addr_spec for each in mail["From"].addresses] == ["press@example.org"]
    written = mail.get_body()
    assert written is not None
    wanted = on_terminal(text.replace("\r\n", "\n")).rstrip("\n")
    assert written.get_content().replace("\r\n", "\n").rstrip("\n") == wanted


@given(st.text(st.characters(exclude_categories=("C", "Z")) | st.just(" "), max_size=200))
def test_a_subject_is_read_as_it_was_written(subject: str) -> None:
    found = parsed(PLAIN._replace(subject=subject))["Subject"]
    assert single_spaced(found) == printable(single_spaced(subject))


@pytest.mark.parametrize(
    "address",
    [
        "ada@example.org",
        "ada.b+tide@mail.example.org",
        "o'neill@example.org",
        "ada@müller.example",
        "müller@example.org",
    ],
)
def test_an_address_reaches_its_header(address: str) -> None:
    assert is_address(address)
    content = bytes_of(PLAIN._replace(recipient=address))
    assert f"\r\nTo: {for_server(address)}\r\n".encode() in content
    assert needs_utf8(address) == (address == "müller@example.org")


@pytest.mark.parametrize(
    "address",
    [
        *("", "ada", "ada@", "@example.org", "ada@example", "ada@@example.org"),
        *("ada@example.org, ben@example.org", "Ada <ada@example.org>", "ada@example.org\n"),
        *("ada\r\nBcc: ben@example.org", "a b@example.org", '"a b"@example.org', ".a@example.org"),
        *("ada@-example.org", "ada@example..org", "ada@exa mple.org", "ada@[127.0.0.1]"),
        *(
            "ada@example.org>",
            "ada\u2028@example.org",
            "ada@ex\u202eample.org",
            "a" * 65 + "@b.org",
        ),
        "ada@" + "a" * 250 + ".org",
    ],
)
def test_what_is_no_address_gets_no_mail(address: str) -> None:
    assert not is_address(address)
    if address:
        with pytest.raises(BadInput, match="not an email address"):
            bytes_of(PLAIN._replace(recipient=address))


@given(st.text(max_size=80))
def test_every_text_that_is_an_address_can_be_written(text: str) -> None:
    for address in (text, f"{text}@example.org", f"ada@{text}.org"):
        if is_address(address):
            head = bytes_of(PLAIN._replace(recipient=address)).partition(b"\r\n\r\n")[0]
            unfolded = head.replace(b"\r\n ", b" ").decode().split("\r\n")
            assert f"To: {for_server(address)}" in [" ".join(line.split()) for line in unfolded]


def test_an_answer_that_repeats_the_address_is_kept_without_it() -> None:
    said = "550 5.1.1 <ADA@example.org>: unknown, ada@example.org"
    assert without(said, "Ada@example.org") == "550 5.1.1 <the address>: unknown, the address"
    assert without("to a@xn--mller-kva.example", "a@müller.example") == "to the address"
