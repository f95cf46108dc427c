"""Bounces as mail servers write them."""

from __future__ import annotations

REPORT = """\
From: MAILER-DAEMON@mx.example.org
To: press@example.org
Subject: Undelivered Mail Returned to Sender
Message-ID: <bounce-{number}@mx.example.org>
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="B"

--B
Content-Type: text/plain

Your mail to {address} could not be delivered.

--B
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.org

Final-Recipient: rfc822; {address}
Original-Recipient: rfc822;{address}
Action: {action}
Status: {status}
Diagnostic-Code: smtp; 550 <{address}> no such user

--B
Content-Type: text/rfc822-headers

From: press@example.org
To: {address}
Subject: Invoice
{headers}
--B--
"""


def report(address: str, message_id: str = "", *, number: int = 1, is_delay: bool = False) -> bytes:
    """Return a report of delivery (RFC 3464) about a mail to an address."""
    return REPORT.format(
        address=address,
        number=number,
        action="delayed" if is_delay else "failed",
        status="4.2.2" if is_delay else "5.1.1",
        headers=f"Message-ID: {message_id}\n" if message_id else "",
    ).encode()


ORDINARY = b"From: ada@example.org\nTo: press@example.org\nSubject: Thanks\n\nGot it.\n"
"""A mail that is no bounce."""
