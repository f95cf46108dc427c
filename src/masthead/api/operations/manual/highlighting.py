"""Code with its parts marked, for the colours of ``pages.css``."""

from html import escape
from itertools import groupby

_PLAIN = {"", "text", "log", "crontab"}
_KINDS = (
    ("Comment", "c"),
    ("Keyword", "k"),
    ("Operator.Word", "k"),
    ("Literal.String", "s"),
    ("Literal.Number", "n"),
    ("Name.Tag", "t"),
    ("Name.Attribute", "t"),
    ("Name.Variable", "t"),
    ("Name.Builtin", "b"),
    ("Name.Function", "b"),
    ("Name.Class", "b"),
)
"""The kinds of tokens that have a colour, with their class in HTML; the first that fits counts."""


def highlighted(code: str, language: str) -> str:
    """Return code as HTML with its parts marked; a language that is not known is left plain."""
    if language in _PLAIN:
        return escape(code, quote=False)
    # The import takes 0.1 seconds, and most servers never show a page.
    from pygments.lexers import get_lexer_by_name  # noqa: PLC0415
    from pygments.token import string_to_tokentype  # noqa: PLC0415
    from pygments.util import ClassNotFound  # noqa: PLC0415

    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return escape(code, quote=False)
    kinds = [(string_to_tokentype(name), mark) for name, mark in _KINDS]
    marked = (
        (next((mark for kind, mark in kinds if token in kind), ""), text)
        for token, text in lexer.get_tokens(code)
    )
    return "".join(
        f'<span class="{mark}">{text}</span>' if mark else text
        for mark, texts in groupby(marked, key=lambda pair: pair[0])
        for text in (escape("".join(text for _, text in texts), quote=False),)
    )
