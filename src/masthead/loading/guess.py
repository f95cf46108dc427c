"""A first mapping to edit, guessed from the files themselves (``masthead import --guess``).

The guess uses the names and the values of the columns. Its comments say what to check.
"""

import glob
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import BadInput
from masthead.loading.batches import REASON, Said
from masthead.loading.checks import fields_by_name
from masthead.loading.files import found_in
from masthead.loading.guess_columns import (
    Placed,
    Values,
    are_all_there,
    are_different,
    placed,
    reader_key,
    sample,
)
from masthead.loading.guess_lines import Guess, Line, key, of_column, toml, toml_list, written
from masthead.loading.guess_people import People
from masthead.loading.guess_pivots import Pivot, pivots
from masthead.loading.guess_table import find_table
from masthead.loading.guess_values import is_text, with_settings, writing
from masthead.loading.guess_words import EMPTY
from masthead.loading.sources import FORMATS, complete, stem_and_format, unpacked_name

_DIGITS = re.compile(r"[0-9]+(?:[-_.][0-9]+)*")

_HEAD = """\
# A first mapping, guessed from the first rows of each file. Check each line, above all those with
# a comment. Then load the files with this mapping.
"""

Tables = dict[str, list[list[Line]]]
Addresses = Mapping[str, tuple[list[Line], str]]
"""The lines of each address and the key to it, by the beginning of its targets."""


def guess_mapping(paths: Sequence[Path]) -> str:
    """Return a mapping of the files of ``paths`` (files and folders), with a comment at each guess.

    Raises BadInput for files that cannot be read, or have no columns.
    """
    found = found_in(paths, lambda path: bool(stem_and_format(path)[1]))
    return "\n".join([_HEAD, *(written(_guess_file(path, label)) for path, label in found)])


def _pattern(path: Path) -> str:
    """Return the name of a file with ``*`` for its numbers, which are often a date."""
    name = unpacked_name(path)
    stem, format_ = stem_and_format(path)
    if stem in TABLES_BY_NAME or not format_:
        pattern = glob.escape(name)
    else:
        ending = name.removeprefix(stem)
        pattern = "*".join(map(glob.escape, _DIGITS.split(stem))) + ending
    # A name can have bytes that are not text; these match any character.
    return toml(re.sub("[\ud800-\udfff]", "?", pattern))


def _guess_file(path: Path, label: str) -> Guess:
    said = complete(path, label).said
    table = find_table(path, label, said)
    if not all(map(is_text, table.names)):
        raise BadInput(f"{label}: the name of a column is not valid {said.encoding}")
    repeated = {name for name, count in Counter(table.names).items() if count > 1}
    values: Values = {
        name: cells
        for name, cells in zip(table.names, table.cells, strict=True)
        if name not in repeated and name and name != REASON
    }
    if not values:
        raise BadInput(f"{label}: has no columns to guess from")
    values, of_empty = _without_empty(values)
    ignore = [(name, "occurs twice") for name in sorted(repeated)]
    if "" in table.names and "" not in repeated and said.format != "xlsx":
        ignore.append(("", "has no name"))
    tables, splits, left = _tables_of(stem_and_format(path)[0], values, table.names)
    told = [
        (name, "; ".join(filter(None, (why, sample(name, values[name]))))) for name, why in left
    ]
    of_values, settings = writing(tables, values)
    with_values: Tables = {
        name: [
            [with_settings(TABLES_BY_NAME[name], line, values, of_values) for line in lines]
            for lines in records
        ]
        for name, records in tables.items()
    }
    of_file = [Line("name", _pattern(path)), *_settings_of(path, said), *table.settings]
    lines = [*of_file, *settings, *of_empty]
    return Guess(lines, [*told, *ignore], splits, with_values)


def _without_empty(values: Values) -> tuple[Values, list[Line]]:
    """Return the values without words that stand for none, and the line for these words."""
    words = sorted({cell for cells in values.values() for cell in cells} & EMPTY)
    if not words:
        return values, []
    kept = {
        name: ["" if cell in EMPTY else cell for cell in cells] for name, cells in values.items()
    }
    return kept, [Line("empty", toml_list(words), "GUESS: they stand for no value")]


def _settings_of(path: Path, said: Said) -> list[Line]:
    """Return the detected settings of a file that are not the defaults."""
    lines = []
    if said.format and stem_and_format(path)[1] not in FORMATS.values():
        lines.append(Line("format", toml(said.format)))
    if said.format == "csv" and said.separator not in {None, ","}:
        lines.append(Line("separator", toml(said.separator or ""), "detected"))
    if said.format in {"csv", "tsv"} and said.quote not in {None, '"'}:
        lines.append(Line("quote", toml(said.quote or ""), "detected"))
    if said.encoding not in {None, "utf-8"}:
        lines.append(Line("encoding", toml(said.encoding or ""), "detected"))
    return lines


# Tables.


def _tables_of(
    stem: str, values: Values, names: Sequence[str]
) -> tuple[Tables, list[Line], list[tuple[str, str]]]:
    """Return the tables, the columns to split, and the remaining ones, each with a comment."""
    exact = TABLES_BY_NAME.get(stem)
    if exact and {*exact.key} <= values.keys() <= fields_by_name(exact).keys():
        return {stem: [[of_column(name, name) for name in values]]}, [], []
    titles = pivots(values)
    of_titles = {name for title in titles for name in title.columns.values()}
    others = {name: cells for name, cells in values.items() if name not in of_titles} or values
    found = placed(others)
    who, comment = reader_key(found, others)
    tables = _Tables(found, others, who, People(found, others, names))
    return tables.made(stem, comment, titles if others is not values else [])


class _Tables:
    """The tables of a file whose column ``who`` tells a reader from all others."""

    def __init__(self, found: Placed, values: Values, who: str, people: People) -> None:
        self._found = found
        self._values = values
        self._who = who
        self._people = people
        self._of_reader = Line("subscriber_id", key([who]))

    def made(
        self, stem: str, comment: str, titles: Sequence[Pivot]
    ) -> tuple[Tables, list[Line], list[tuple[str, str]]]:
        """Return the tables, the columns to split, and the remaining ones.

        ``comment`` is about the key of readers. ``titles`` have columns of their own.
        """
        has = self._found.columns.keys()
        has_time = bool(has & {"subscriptions.date_expired", "subscriptions.issues"})
        is_subscription = bool(has & {"subscription", "publications.name"}) or has_time
        addresses = self._addresses()
        names = next(filter(None, map(self._people.names, ("", "billing ", "shipping "))), [])
        tables: Tables = {}
        if titles:
            tables["publications"] = [_publication_of(title) for title in titles]
        elif is_subscription:
            tables["publications"] = [self._publication(stem)]
        own = [*names, *self._columns("subscribers", {"first_name", "last_name"})]
        if own or not (is_subscription or titles or "invoice" in has):
            tables["subscribers"] = [[self._of_reader._replace(comment=comment), *own]]
        if addresses:
            tables["addresses"] = [lines for lines, _ in addresses.values()]
        if titles:
            tables["subscriptions"] = [self._subscription_of(title, addresses) for title in titles]
        elif is_subscription:
            tables["subscriptions"] = [self._subscription(stem, addresses)]
        if "invoice" in has:
            number = Line("purchase_id", key([invoice := self._found.columns["invoice"]]))
            rest = self._columns("purchases", set())
            if "subscriptions" in tables:
                when = [invoice, *(line.name for line in rest)]
                told = "no purchase where all of these are empty"
                number = Line("purchase_id", key([invoice], when=when), told)
            tables["purchases"] = [[number, self._of_reader, *rest]]
        return tables, self._people.splits, [*self._found.left, *self._unused(tables)]

    def _columns(self, table: str, without: set[str]) -> list[Line]:
        """Return the lines of the columns that are placed in a table."""
        return [
            of_column(column, name, self._found.comments.get(name, ""))
            for target, name in self._found.columns.items()
            for of, _, column in [target.partition(".")]
            if of == table and column not in without
        ]

    def _rows(self, columns: Sequence[str]) -> list[tuple[str, ...]]:
        return list(zip(*(self._values[name] for name in columns), strict=True))

    def _unused(self, tables: Tables) -> list[tuple[str, str]]:
        used = " ".join(
            line.source
            for records in [*tables.values(), [self._people.splits]]
            for lines in records
            for line in lines
        )
        return [
            (name, f"looks like {target}" if "." in target else "")
            for target, name in self._found.columns.items()
            if toml(name) not in used
            and f"{{{name}}}" not in used
            and all(line.name != name for line in self._people.splits)
        ]

    def _publication(self, stem: str) -> list[Line]:
        if (title := self._found.columns.get("publications.name")) is not None:
            told = self._found.comments.get(title, "")
            made = Line("publication_id", key([title]), told or "an id is made from it")
            return [made, of_column("name", title)]
        why = "GUESS: no column has a title: write its name, here and below"
        constant = f"{{ constant = {toml(stem)} }}"
        return [Line("publication_id", key([], of=stem), why), Line("name", constant)]

    def _addresses(self) -> Addresses:
        """Return the addresses, the one for copies first."""
        groups = list(self._people.groups())
        found = {}
        for group in groups:
            lines, when = self._people.address(group)
            of = group.strip() if len(groups) > 1 else ""
            of_address = key([self._who], of=of, when=when)
            names = self._people.names(group) if group else []
            if not names and any(line.target == "company" for line in lines):
                names = self._people.names("")
            rows = [row for row in self._rows([self._who, *when]) if any(row[1:])]
            told = "no address where all of these are empty"
            if len({row[0] for row in rows}) < len(set(rows)):
                told = "GUESS: a reader has two addresses; choose columns that tell them apart"
            head = Line("address_id", of_address, told)
            found[group] = ([head, self._of_reader, *names, *lines], of_address)
        return found

    def _subscription(self, stem: str, addresses: Addresses) -> list[Line]:
        """Return the lines of a subscription."""
        title = self._found.columns.get("publications.name")
        publication = key([title]) if title is not None else key([], of=stem)
        return [
            self._key_of_subscription(title),
            self._of_reader,
            Line("publication_id", publication),
            *self._delivery(addresses, self._columns("subscriptions", set())),
        ]

    def _subscription_of(self, title: Pivot, addresses: Addresses) -> list[Line]:
        """Return the lines of a subscription to a title that has columns of its own."""
        own = [of_column(column, name) for column, name in title.columns.items()]
        number = key([self._who], of=title.title, when=list(title.columns.values()))
        return [
            Line("subscription_id", number, "none where all of these are empty"),
            self._of_reader,
            Line("publication_id", key([], of=title.title)),
            *self._delivery(addresses, own),
        ]

    @staticmethod
    def _delivery(addresses: Addresses, own: list[Line]) -> list[Line]:
        """Return a subscription's addresses and ``own`` columns, and what every one needs."""
        lines = []
        by_kind = {group: of_address for group, (_, of_address) in addresses.items()}
        for column, groups in (
            ("mailing_address_id", ("shipping ", "", "billing ")),
            ("billing_address_id", ("billing ", "")),
        ):
            keys = [by_kind[group] for group in groups if group in by_kind]
            if keys and (column == "mailing_address_id" or len(by_kind) > 1):
                listed = keys[0] if len(keys) == 1 else f"{{ first = [{', '.join(keys)}] }}"
                lines.append(Line(column, listed))
        columns = {line.target for line in own}
        if "type" not in columns:
            kind = "Print" if addresses else "Digital"
            why = "GUESS: no column says whether it is in print"
            lines.append(Line("type", f'{{ constant = "{kind}" }}', why))
        if "copies" not in columns:
            why = "GUESS: no column has the number of copies"
            lines.append(Line("copies", "{ constant = 1 }", why))
        return [*lines, *own]

    def _key_of_subscription(self, title: str | None) -> Line:
        number = self._found.columns.get("subscription")
        columns = [number] if number is not None else list(filter(None, [self._who, title]))
        rows = self._rows(columns)
        told = self._found.comments.get(columns[0], "") if number is not None else ""
        if not are_different(rows):
            told = "GUESS: several rows have the same; choose columns that tell all of them apart"
        elif not are_all_there([row[0] for row in rows]):
            told = "GUESS: some rows have none"
        told = told or "this has to tell a subscription from all others"
        return Line("subscription_id", key(columns), told)


def _publication_of(title: Pivot) -> list[Line]:
    why = "GUESS: this title has columns of its own"
    name = Line("name", f"{{ constant = {toml(title.title)} }}")
    return [Line("publication_id", key([], of=title.title), why), name]
