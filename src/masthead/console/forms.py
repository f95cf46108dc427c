"""The forms of the console: with the people of its pickers, and without ids in their errors."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from masthead.console.hints import UNKNOWN
from masthead.errors import MastheadError
from masthead.mail.addresses import is_address
from masthead.web import forms
from masthead.web.forms import as_sentence

if TYPE_CHECKING:
    from masthead.books.finding import Hit


class Form(forms.Form):
    """A form of the console.

    ``people`` are the readers whom a person picker shows, by its field (``person_picker``).
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(values)
        self.people: dict[str, list[Hit]] = {}

    def check_email(self, name: str) -> None:
        """Refuse a text to which no mail can go; nothing is checked if the field is empty."""
        if self[name] and not is_address(self[name]):
            self.refuse(name, "This is no email address: it should be like ada@example.org.")

    def sentence(self, error: MastheadError) -> str:
        """Return the message of an error as a sentence; it names no id."""
        return sentence(error)


def sentence(said: object) -> str:
    """Return the message of an error or an operation as a sentence; it names no id."""
    if isinstance(said, MastheadError) and said.code in UNKNOWN:
        return UNKNOWN[said.code].format(**said.values)
    return as_sentence(said)
