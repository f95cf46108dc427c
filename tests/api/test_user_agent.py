"""What the log shows of the header ``User-Agent``."""

from __future__ import annotations

import pytest

from masthead.http_server.user_agent import user_agent


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("python-requests/2.32.3", "python-requests/2.32.3"),
        ("GuzzleHttp/7", "GuzzleHttp/7"),
        ("node", "node"),
        (
            "Mozilla/5.0 (X11; Linux) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 S/1",
            "Mozilla/5.0 AppleWebKit/537.36 Chrome/131.0.0.0",
        ),
        ("Sync/1.4 (ada@example.org; key 0123456789abcdef0123)", "Sync/1.4"),
        ("ada@example.org", None),
        ("0123456789abcdef0123456789abcdef01234567", None),
        ("Sync/0123456789abcdef", None),
        ("Sync/1.0\n level='error'", "Sync/1.0"),
        ("x" * 600 + " Sync/1.0", None),
        ("S\u00fcnc/1.0", None),
        ("", None),
    ],
)
def test_the_log_has_programs_with_versions_and_nothing_else(sent: str, shown: str | None) -> None:
    """rules, "The program of a client"."""
    assert user_agent({b"user-agent": sent.encode()}) == shown


def test_a_client_that_names_no_program_has_none() -> None:
    """rules, "The program of a client"."""
    assert user_agent({}) is None
