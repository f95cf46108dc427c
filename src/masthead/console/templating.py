"""The templates in ``html``, and how they format numbers, amounts and times.

A missing variable is an error, and all values are escaped.
"""

import re
from functools import cache
from pathlib import Path

import msgspec
from jinja2 import Environment, Template, pass_context
from jinja2.runtime import Context

from masthead.circulation.amounts import decimal, in_currency, stored_cents
from masthead.console.static_files import static
from masthead.contract.moments import format_second, in_words, is_only_day
from masthead.contract.subscription_types import type_in_words
from masthead.web.templating import environment

_ISO_DAY = re.compile(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b")


def template(name: str) -> Template:
    """Return the template ``html/NAME.html``."""
    return _environment().get_template(f"{name}.html")


@cache
def _environment() -> Environment:
    made = environment(Path(__file__).parent / "html", static=static)
    made.filters.update(
        amount=_amount,
        total=_total,
        money=_money,
        day=day_in_words,
        in_words=days_in_words,
        moment=_moment,
        type_in_words=type_in_words,
        number=_number,
        who=who,
        word=_word,
    )
    return made


def _amount(cents: int | None) -> str:
    """Return cents as an amount with thousands separators: ``1,250.00``."""
    if cents is None:
        return ""
    whole, _, rest = decimal(abs(cents)).partition(".")
    return f"{'-' if cents < 0 else ''}{int(whole):,}.{rest}"


@pass_context
def _money(context: Context, cents: int | None) -> str:
    """Return cents with the currency of the account of the page: ``1,250.00 USD``."""
    return "" if cents is None else in_currency(cents, context["account"].currency)


def _total(number: str | msgspec.Raw | None) -> str:
    """Return a total, in its stored form or that of the interface, as an amount."""
    if number is None:
        return ""
    text = bytes(number).decode() if isinstance(number, msgspec.Raw) else number
    return _amount(stored_cents(text))


def day_in_words(text: str | None) -> str:
    """Return the day of a date or time in words: ``24 November 2026``."""
    if not text:
        return ""
    return in_words(str(text)[:10])


def issue_and_day(name: str | None, day: str) -> str:
    """Return the name of an issue and its day in words, which the name may say alone."""
    return day_in_words(day) if is_only_day(name, day) else f"{name}, {day_in_words(day)}"


def days_in_words(sentence: str) -> str:
    """Return a sentence with its days in words instead of ``2026-11-24``."""
    said = _ISO_DAY.sub(lambda found: day_in_words(found[0]), sentence)
    return type(sentence)(said)  # escaped markup stays so


def _moment(microseconds: int | None) -> str:
    """Return a time in UTC in words: ``24 November 2026, 18:35``."""
    if microseconds is None:
        return ""
    text = format_second(microseconds)
    return f"{day_in_words(text)}, {text[11:16]}"


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def who(user_name: str | None) -> str:
    """Return the name of a person; for ``root`` of a computer, what people call that user."""
    return "the administrator" if user_name == "root" else user_name or "unknown"


def _word(name: str) -> str:
    """Return the name of a field as a label: ``Zip code``."""
    return name.replace("_", " ").capitalize()
