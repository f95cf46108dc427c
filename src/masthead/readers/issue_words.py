"""What an issue is called on the readers' pages: its name and its day, once."""

from masthead.books.reader_home import Issue, Next
from masthead.contract.moments import is_only_day
from masthead.readers.words import Words


def issue_in_words(issue: Next | Issue, words: Words) -> str:
    """Return the name of an issue with its day; only the day of one that is named after its day."""
    return named_in_words(issue.name, issue.day, words)


def named_in_words(name: str | None, day: str | None, words: Words) -> str:
    """Return what :func:`issue_in_words` does, of the name and the day of an issue."""
    title, shown = issue_title(name, day, words)
    return f"{title}, {words.day(shown)}" if shown else title


def issue_title(name: str | None, day: str | None, words: Words) -> tuple[str, str | None]:
    """Return the name of an issue, and its day if the name does not say it."""
    if day and is_only_day(name, day):
        return words.day(day), None
    return name or words.gettext("Issue"), day
