"""The templates in ``html``, in the language of the reader."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, Template

from masthead.readers.static_files import static
from masthead.readers.words import Words
from masthead.web.templating import environment


def template(name: str, language: str) -> Template:
    """Return the template ``html/NAME.html`` with its sentences in a language."""
    return _environment(language).get_template(f"{name}.html")


@cache
def words_of(language: str) -> Words:
    """Return the words of a language."""
    return Words(language)


@cache
def _environment(language: str) -> Environment:
    made = environment(
        Path(__file__).parent / "html", static=static, extensions=["jinja2.ext.i18n"]
    )
    words = words_of(language)
    install = made.install_gettext_translations  # type: ignore[attr-defined] # of the extension
    install(words.translations, newstyle=True)
    made.filters.update(
        day=words.day, money=words.money, number=words.number, country=words.country
    )
    return made
