"""The forms of the readers' pages: their errors are in the language of the reader."""

from collections.abc import Mapping

from masthead.circulation.reader_rules import REFUSALS
from masthead.contract.moments import is_day
from masthead.errors import MastheadError
from masthead.readers.words import Words
from masthead.web import forms
from masthead.web.words import marked

NOT_POSSIBLE = marked("This is not possible. Please write to us.")


class Form(forms.Form):
    """A form of the readers' pages."""

    def __init__(self, values: Mapping[str, str], words: Words) -> None:
        super().__init__(values)
        self._words = words

    def sentence(self, error: MastheadError) -> str:
        """Return the message of an error: that of its code, in the reader's language.

        An error without such a code is for the publisher's people; a reader reads whom to ask.
        """
        message = REFUSALS.get(error.code)
        if message is None:
            return self._words.gettext(NOT_POSSIBLE)
        return self._words.gettext(message, **self._shown(error.values))

    def translated(self, text: str) -> str:
        """Return one of the messages of all forms in the reader's language."""
        return self._words.gettext(text)

    def _shown(self, values: Mapping[str, object]) -> dict[str, object]:
        """Return the values of a message as a reader reads them: days in words."""
        return {
            name: self._words.day(value) if isinstance(value, str) and is_day(value) else value
            for name, value in values.items()
        }
