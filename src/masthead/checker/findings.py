"""The findings of a check: differences from the interface, and notes on what it leaves open.

A finding names fields, paths and types, but never a value, because values are personal data
(rules, "Checker: what it says and keeps").
"""

from typing import Literal, NamedTuple

from masthead.errors import MastheadError

Severity = Literal["difference", "note"]


class Finding(NamedTuple):
    """A difference or a note.

    ``section`` is a heading or an operation of the interface, ``request`` the method and the path
    with its placeholders, ``field`` the place in the response, a parameter, or "". ``repeat`` is a
    request that shows the finding again, as a line of a shell.
    """

    severity: Severity
    section: str
    request: str
    field: str
    text: str
    repeat: str = ""


class Faulty(MastheadError):
    """A response that a check cannot use further; ``finding`` says why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.text)
        self.finding = finding


class NotTried(MastheadError):
    """A check that cannot be made, usually because the service has no suitable record."""
