"""Writes ``docs/reference.md`` from the contract, the settings, the commands and the rules.

Run by ``make docs``; a test holds the page against what this would write.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from masthead.checker import CHECKS, section_of, title_of
from masthead.cli import cli
from masthead.contract.kinds import Bit, Bool, Flag, Kind, Many, Missing, OneOf, Text
from masthead.contract.meanings import SHAPES, meaning_of
from masthead.contract.openapi import document
from masthead.contract.operations import (
    DELETIONS,
    DIGEST,
    ENTITIES,
    ENTITLEMENTS,
    EXTENSIONS,
    NDJSON,
    OPERATIONS,
    Operation,
)
from masthead.contract.records import ACCOUNTS, TABLES_BY_NAME, Table
from masthead.contract.shapes import fields_of
from masthead.settings import SETTINGS

PAGE = Path(__file__).with_name("reference.md")
_RULES = Path(__file__).with_name("rules.md")
_GENERAL = ("Callers and tenants", "Requests", "Responses")
"""The sections of ``rules.md`` that apply to all operations."""
_BAR = "\\|"
_HELP_WIDTH = 96


class _Rule(NamedTuple):
    """A rule of ``rules.md`` and the operations and commands that it applies to."""

    title: str
    text: str
    names: tuple[str, ...]


def reference() -> str:
    """Return the whole page; raise ValueError if a rule applies to something unknown."""
    rules = list(_rules())
    known = {operation.path for operation in (*OPERATIONS.values(), *EXTENSIONS)}
    known |= {path for path, _ in _all_commands("masthead", cli)}
    if unknown := {name for rule in rules for name in rule.names} - known:
        raise ValueError(f"{_RULES.name}: rules apply to unknown {', '.join(sorted(unknown))}")
    parts = [
        "# Reference",
        "Made by `make docs` from the contract, the settings, the commands and the rules.",
        *_operations(rules),
        *_shapes(),
        *_files(),
        *_settings(),
        *_errors(),
        *_checks(),
        *_commands(rules),
    ]
    return "\n\n".join(parts) + "\n"


def _rules() -> Iterator[_Rule]:
    """Yield the rules that name operations or commands in their last paragraph."""
    for section in re.split(r"^#+ ", _RULES.read_text(encoding="utf-8"), flags=re.MULTILINE):
        title, _, body = section.partition("\n")
        text, found, names = body.strip().partition("\n\nApplies to: ")
        if found:
            yield _Rule(title, text, tuple(re.findall("`([^`]+)`", names)))


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(
        f"| {' | '.join(cell.replace('|', _BAR) for cell in line)} |" for line in lines
    )


def _word(kind: Kind) -> str:
    if isinstance(kind, OneOf):
        return "one of " + ", ".join(kind.values)
    if isinstance(kind, Many):
        return f"list of {kind.shape.__name__}"
    if isinstance(kind, Text) and kind.max_length is not None:
        return f"{kind.word}, at most {kind.max_length} characters"
    return kind.word


def _operations(rules: Sequence[_Rule]) -> Iterator[str]:
    general = ", ".join(_link(title) for title in _GENERAL)
    yield "## Operations"
    yield (
        "Each operation accepts GET and HEAD, with and without a slash at the end of its path. "
        f"The rules for all operations are in {general}. The other rules are below."
    )
    for operation in (*OPERATIONS.values(), *EXTENSIONS):
        number = f"{operation.number}. " if operation.number else "Extension: "
        yield f"### {number}{operation.summary}"
        yield f"`GET {operation.path}` answers {_response(operation)}."
        if operation.parameters:
            yield _table(
                ("parameter", "value", "meaning"),
                [
                    (f"`{p.name}`{' (required)' if p.required else ''}", _word(p.kind), p.meaning)
                    for p in operation.parameters
                ],
            )
        for rule in rules:
            if operation.path in rule.names:
                yield f"**{rule.title}.** {rule.text.replace('](#', f']({_RULES.name}#')}"


def _link(title: str) -> str:
    """Return a link to the rule or the section with this title."""
    anchor = "".join(c for c in title.lower() if c.isalnum() or c in " -_").replace(" ", "-")
    return f"[{title}]({_RULES.name}#{anchor})"


def _response(operation: Operation) -> str:
    if operation is DIGEST:
        return "an object with `count` and `digest` under the key of each entity asked for"
    if operation is DELETIONS:
        return "an object with a list of ids under the key of each entity asked for"
    if operation.response is None:
        keys = ", ".join(f"`{e.key}` ({e.shape.__name__}) for `{e.name}`" for e in ENTITIES)
        lines = (
            f"; or, if the request accepts `{NDJSON}`, a line for each record"
            if NDJSON in operation.media_types
            else ""
        )
        return f"an object with a list for each entity asked for: {keys}{lines}"
    what = f"{'a list of ' if operation.many else ''}{operation.response.__name__}"
    return f"{what} under `{operation.envelope}`" if operation.envelope else what


def _shapes() -> Iterator[str]:
    yield "## Wire shapes"
    yield "Keys are in this order. A value that is missing looks as the last column says."
    shown: set[type] = set()
    operations = (*OPERATIONS.values(), ENTITLEMENTS)
    waiting = [o.response for o in operations if o.response] + [e.shape for e in ENTITIES]
    while waiting:
        shape = waiting.pop(0)
        if shape in shown:
            continue
        shown.add(shape)
        rows = []
        for field in fields_of(shape):
            if isinstance(field.kind, Many):
                waiting.insert(0, field.kind.shape)
            missing = "" if field.missing is Missing.NEVER else field.missing.value
            meaning = meaning_of(shape, field.name)
            rows.append((f"`{field.name}`", _word(field.kind), meaning, missing))
        yield f"### {shape.__name__}"
        yield SHAPES[shape]
        yield _table(("field", "value", "meaning", "when missing"), rows)


def _files() -> Iterator[str]:
    yield "## Import files"
    yield (
        "A file's name is that of its table, with `.csv` or `.ndjson`, and `.gz` or `.zst` after "
        "it where it is packed. A column that is not marked may be empty, or not be in the file. "
        "`subscribers` may have a `password` instead of `password_md5` and `password_hash`, of "
        "which a row has one at most; of an item's `bundle_id` and `product_id` there is exactly "
        "one. In NDJSON `option_ids` is an array."
    )
    for table in (*TABLES_BY_NAME.values(), ACCOUNTS):
        yield f"### {table.name}"
        yield _table(("column", "value", "note"), _columns(table))


def _columns(table: Table) -> Sequence[tuple[str, ...]]:
    rows = []
    for column in table.columns:
        notes = []
        if column.name in table.key:
            notes.append("key")
        elif column.missing is Missing.NEVER and column.kind.when_missing is None:
            notes.append("required")
        if column.name in table.references:
            notes.append(f"one of `{table.references[column.name]}`")
        if column.name in table.unique:
            notes.append("unique, letter case ignored")
        if column.name in table.together:
            others = [f"`{name}`" for name in table.together if name != column.name]
            notes.append(" with ".join(["unique", *others]))
        rows.append((f"`{column.name}`", _file_word(column.kind), ", ".join(notes)))
    return rows


def _file_word(kind: Kind) -> str:
    """Return what a cell of a file holds: how the wire writes it does not matter there."""
    if isinstance(kind, Bit | Bool | Flag):
        return "true or false, 1 or 0"
    return _word(kind).removesuffix(", as a string")


def _settings() -> Iterator[str]:
    yield "## Settings"
    yield _table(
        ("flag", "environment", "default", "meaning"),
        [
            (
                f"`{setting.flag}`" if setting.flag else "",
                f"`{setting.variable}`",
                "" if setting.default in {None, False} else f"`{setting.default}`",
                setting.meaning,
            )
            for setting in SETTINGS.values()
        ],
    )


def _errors() -> Iterator[str]:
    yield "## Errors"
    yield (
        'Each has the body `{"error": "…"}`, a sentence that says what would be right; '
        "[examples](integrator.md#errors)."
    )
    described = document()
    statuses: dict[str, str] = {"405": "A method other than GET and HEAD; `Allow` names them."}
    for item in described["paths"].values():
        for status, answer in item["get"]["responses"].items():
            if "$ref" in answer:
                name = answer["$ref"].rpartition("/")[2]
                statuses[status] = described["components"]["responses"][name]["description"]
    yield _table(("status", "when"), sorted(statuses.items()))


def _checks() -> Iterator[str]:
    yield "## Checks"
    yield "What `masthead check` compares with the interface; see [Check a service](checking.md)."
    for group, checks in CHECKS.items():
        yield f"### Checks: {group}"
        yield _table(
            ("what has to be true", "where the interface says it"),
            [(title_of(check), section_of(check)) for check in checks],
        )


def _commands(rules: Sequence[_Rule]) -> Iterator[str]:
    yield "## Commands"
    yield "The exit status is 0, 1 for bad data, or 2 for wrong usage. Each command has a section."
    for path, command in _all_commands("masthead", cli):
        context = click.Context(
            command,
            info_name=path,
            terminal_width=_HELP_WIDTH,
            max_content_width=_HELP_WIDTH,
            **cli.context_settings,
        )
        level = "###" if " " in path.removeprefix("masthead ") else "##"
        yield f"{level} {path}\n\n```text\n{command.get_help(context)}\n```"
        if links := [_link(rule.title) for rule in rules if path in rule.names]:
            yield f"Rules: {', '.join(links)}."


def _all_commands(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in sorted(command.list_commands(context)):
            if inner := command.get_command(context, name):
                yield from _all_commands(f"{path} {name}", inner)


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
    sys.stdout.write(f"{PAGE.name} written\n")
