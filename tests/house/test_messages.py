"""No command and no option below ``cli``: clerks read the messages in a browser.

An error says what is wrong, and carries a code. By that, ``cli`` adds a hint, and ``console`` says
something else about an id.
"""

from __future__ import annotations

import ast
import re
from string import Formatter
from typing import TYPE_CHECKING, NamedTuple

import click
import pytest

from masthead.cli import cli, hints
from masthead.console import hints as of_console
from masthead.errors import BadInput
from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SOURCE = ROOT / "src" / "masthead"
BELOW_CLI = [
    path
    for path in sorted(SOURCE.rglob("*.py"))
    if path.relative_to(SOURCE).parts[0] not in {"cli", "__main__.py"}
]
"""Each module but those of the command line, of which ``__main__`` is the start."""
TEMPLATES = sorted(
    path for room in ("console", "web") for path in (SOURCE / room / "html").glob("*.html")
)
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def commands(command: click.Command) -> Iterator[click.Command]:
    """Yield a command and all below it."""
    yield command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from commands(found)


NAMES = sorted(cli.list_commands(click.Context(cli)))
OPTIONS = sorted(
    {
        text
        for command in commands(cli)
        for parameter in command.params
        for text in (*parameter.opts, *parameter.secondary_opts)
        if text.startswith("--")
    }
)
COMMAND = re.compile(rf"\bmasthead (?:{'|'.join(NAMES)})\b")
OPTION = re.compile(rf"(?<![\w-])(?:{'|'.join(OPTIONS)})(?![\w-])")
COMMENT = re.compile(r"<!--.*?-->|\{#.*?#\}", re.DOTALL)


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each string of a module, but not of its documentation.

    A string in a list that is an option and nothing else is an argument for a process.
    """
    passed_over: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            passed_over.add(id(node.body[0]))
        if isinstance(node, ast.List | ast.Tuple):
            passed_over |= {id(one) for one in node.elts if is_text(one, OPTION)}
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if id(node) in passed_over:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = [one.value if isinstance(one, ast.Constant) else "…" for one in node.values]
            yield node.lineno, "".join(map(str, parts))
            waiting += [one for one in node.values if isinstance(one, ast.FormattedValue)]
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        waiting += ast.iter_child_nodes(node)


def is_text(node: ast.expr, pattern: re.Pattern[str]) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and pattern.fullmatch(node.value) is not None
    )


def found_in(text: str) -> list[str]:
    return [hit.group() for pattern in (COMMAND, OPTION) for hit in pattern.finditer(text)]


class Coded(NamedTuple):
    """A call that makes an error with a code, and the names of the values that it carries."""

    place: str
    code: str
    values: frozenset[str]


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def coded() -> Iterator[Coded]:
    """Yield the errors with a code. An error made from another has the values of that one."""
    for path in BELOW_CLI:
        for node in ast.walk(parsed(path)):
            given = {one.arg: one.value for one in getattr(node, "keywords", ())}
            code = given.pop("code", None) if isinstance(node, ast.Call) else None
            if isinstance(code, ast.Constant):
                place = f"{path.relative_to(SOURCE)}:{code.lineno}"
                yield Coded(place, str(code.value), frozenset(filter(None, given)))
            elif isinstance(code, ast.Attribute):
                assert None in given, f"{path}:{node}: the values of the error belong to its code"


@pytest.fixture(scope="module")
def errors() -> list[Coded]:
    """All errors with a code."""
    return list(coded())


def names_in(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def test_no_message_below_the_command_line_names_a_command_or_an_option() -> None:
    found = {
        f"{path.relative_to(SOURCE)}:{line}": hits
        for path in BELOW_CLI
        for line, text in texts(parsed(path))
        if (hits := found_in(text))
    }
    assert not found


def test_no_page_of_the_console_names_a_command_or_an_option() -> None:
    pages = {
        path.name: found_in(" ".join(COMMENT.sub("", path.read_text(encoding="utf-8")).split()))
        for path in TEMPLATES
    }
    assert pages
    assert not {name: hits for name, hits in pages.items() if hits}


@pytest.mark.parametrize(
    "text",
    [
        "`masthead books open` opens them",
        "say with --account whose data it is",
        "f'the limit is {most}: say --max-removed'",
    ],
)
def test_such_a_message_would_be_found(text: str) -> None:
    tree = ast.parse(f"def refuse():\n    '''It says --account.'''\n    raise E({text!r})")
    assert [found_in(text) for _, text in texts(tree) if found_in(text)]


def test_a_docstring_and_an_argument_for_a_process_are_no_messages() -> None:
    tree = ast.parse("'''It runs with --port.'''\nrun(['--port', port])\n")
    assert not [text for _, text in texts(tree) if found_in(text)]


def test_each_code_has_a_hint_of_the_command_line_and_none_is_unused(errors: list[Coded]) -> None:
    assert {one.code for one in errors} - {""} == set(hints.HINTS)
    assert set(of_console.UNKNOWN) <= set(hints.HINTS)


def test_each_error_carries_what_its_hints_show(errors: list[Coded]) -> None:
    lacking = [
        (one.place, name)
        for one in errors
        for each in (hints.HINTS, of_console.UNKNOWN)
        for name in names_in(each.get(one.code, "")) - one.values
    ]
    assert not lacking


def test_each_hint_names_commands_and_options_that_there_are() -> None:
    for code, hint in hints.HINTS.items():
        for command in re.findall(r"`masthead ([^`{]*)", hint):
            words = [word for word in command.split() if not word.startswith("-")]
            found: click.Command = cli
            for word in words:
                assert isinstance(found, click.Group), (code, word)
                known = found.get_command(click.Context(found), word)
                assert known is not None, (code, word)
                found = known
        assert set(re.findall(r"--[a-z-]+", hint)) <= set(OPTIONS), code


def test_the_command_line_adds_its_hint_to_the_sentence() -> None:
    error = BadInput("open its books first", code="books_elsewhere", account=3)
    assert hints.with_hint(error) == (
        "open its books first; `masthead books open --account 3` opens the books"
    )
    assert hints.with_hint(BadInput("open its books first")) == "open its books first"
