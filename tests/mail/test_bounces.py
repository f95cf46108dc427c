"""Mails that came back, read from mailboxes (billing, "E-mail")."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.errors import BadInput
from masthead.mail import bounces
from masthead.mail.bounces import Bounce, bounce_of, bounces_in
from tests.mail.mailboxes import ORDINARY, report

if TYPE_CHECKING:
    from pathlib import Path

REASON = "5.1.1 550 <ada@example.org> no such user"


def test_a_report_says_which_address_takes_no_mails() -> None:
    found = bounce_of(report("ada@example.org", "<1@example.org>"), "a.eml")
    assert found == Bounce("a.eml", ("ada@example.org",), (), ("<1@example.org>",), REASON)


def test_a_delayed_mail_is_told_apart() -> None:
    found = bounce_of(report("ada@example.org", is_delay=True), "a.eml")
    assert (found.addresses, found.delayed) == ((), ("ada@example.org",))


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "2.eml").write_bytes(ORDINARY)
    (tmp_path / "1.eml").write_bytes(report("ada@example.org"))
    assert [(each.file, each.addresses) for each in bounces_in(tmp_path)] == [
        ("1.eml", ("ada@example.org",)),
        ("2.eml", ()),
    ]


def test_a_maildir_and_an_mbox_have_the_same_mails(tmp_path: Path) -> None:
    both = [report("ada@example.org"), report("ben@example.org", number=2)]
    for name in ("cur", "new", "tmp"):
        (tmp_path / "dir" / name).mkdir(parents=True)
    (tmp_path / "dir/cur/1:2,S").write_bytes(both[0])
    (tmp_path / "dir/new/2").write_bytes(both[1])
    mbox = tmp_path / "mbox"
    mbox.write_bytes(b"".join(b"From x Thu Jan  1 00:00:00 2026\n%s\n" % each for each in both))
    before = mbox.read_bytes()
    found = [[each.addresses for each in bounces_in(path)] for path in (tmp_path / "dir", mbox)]
    assert found == [[("ada@example.org",), ("ben@example.org",)]] * 2
    assert mbox.read_bytes() == before


def test_what_is_not_there_or_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadInput, match="there is no file or folder"):
        next(bounces_in(tmp_path / "none"))
    monkeypatch.setattr(bounces, "MAIL_BYTES_MAX", 100)
    (tmp_path / "a.eml").write_bytes(report("ada@example.org"))
    with pytest.raises(BadInput, match=r"a\.eml has more than"):
        next(bounces_in(tmp_path))
    (tmp_path / "a.eml").write_bytes(b"From x\n" + report("ada@example.org"))
    with pytest.raises(BadInput, match=r"a\.eml, mail 1, has more than"):
        next(bounces_in(tmp_path))


def test_a_mail_with_parts_without_end_is_no_bounce() -> None:
    deep = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(5_000)
    )
    assert bounce_of(b"From: a@b.org\n" + deep, "a.eml") == Bounce("a.eml")


@given(st.binary(max_size=400) | st.binary(max_size=100).map(report("a@b.org").__add__))
def test_no_mail_stops_the_reading(content: bytes) -> None:
    found = bounce_of(content, "a.eml")
    assert found.file == "a.eml"
    assert all("\n" not in each for each in (*found.addresses, found.reason))


def test_a_mail_that_cannot_be_read_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Nothing but sentences is on standard error, and no traceback."""
    assert bounce_of(b"\x00\xff\n", "a.eml") == Bounce("a.eml")
    assert caplog.records == []
