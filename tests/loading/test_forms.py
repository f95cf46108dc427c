"""Files in the form of systems in use, each with its mapping and the records that come out.

A folder of ``forms`` has an export, the mapping for it unless one of its name comes with Masthead,
and ``records.ndjson``: the columns that the mapping fills, of each record. Exports are kept as
UTF-8, and are read in the encoding of their mapping. ``python -m tests.loading.test_forms`` writes
the records again, to be read before they are committed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from masthead.errors import BadInput
from masthead.loading.guess import guess_mapping
from masthead.loading.load import Options, load
from masthead.loading.mapping_toml import parse_mapping, read_mapping
from masthead.loading.shipped import mapping_named, shipped_names
from masthead.store import open_store
from tests.loading.publisher import Publisher

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.loading.mapping import FileMapping
    from masthead.store import Store

FORMS = Path(__file__).parent / "forms"
NAMES = sorted(path.name for path in FORMS.iterdir())
RECORDS = "records.ndjson"
LINE_ENDS = {"mac-roman": "\r", "cp850": "\r\n"}


def mapping_of(name: str) -> Path:
    own = FORMS / name / "mapping.toml"
    return own if own.exists() else mapping_named(Path(name))


def write_export(name: str, mapping: FileMapping, folder: Path) -> Path:
    """Write the export of a form as its system does, and return its file."""
    (export,) = (f for f in (FORMS / name).iterdir() if f.name not in {"mapping.toml", RECORDS})
    raw = export.read_bytes()
    encoding = mapping.said.encoding
    if encoding is not None:
        raw = raw.decode().replace("\n", LINE_ENDS.get(encoding, "\n")).encode(encoding)
    file = folder / export.name
    file.write_bytes(raw)
    return file


def records_of(name: str, publisher: Publisher) -> str:
    """Return the records that a form gives, as NDJSON."""
    (mapping,) = read_mapping(mapping_of(name))
    export = write_export(name, mapping, publisher.folder)
    load(
        publisher.store,
        [export],
        account_id=publisher.account_id,
        options=Options(mapping=mapping_of(name)),
    )
    filled: dict[str, list[str]] = {}
    for mapped in mapping.tables:
        filled.setdefault(mapped.table.name, []).extend(mapped.sources)
    lines = [
        {"table": table}
        | {
            column: record[column]
            for column in dict.fromkeys(columns)
            if record[column] is not None
        }
        for table, columns in filled.items()
        for record in publisher.table(table)
    ]
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A SQLite database: what a mapping makes of a file does not depend on the kind."""
    with closing(open_store(f"sqlite:///{tmp_path_factory.mktemp('forms')}/m.db")) as opened:
        yield opened


@pytest.mark.parametrize("name", NAMES)
def test_a_form_gives_its_records(name: str, opened: Store, tmp_path: Path) -> None:
    publisher = Publisher("", tmp_path, NAMES.index(name) + 1, store=opened)
    expected = (FORMS / name / RECORDS).read_text(encoding="utf-8")
    assert records_of(name, publisher) == expected


def test_the_guess_for_each_form_is_a_mapping(tmp_path: Path) -> None:
    for name in NAMES:
        (mapping,) = read_mapping(mapping_of(name))
        guess = guess_mapping([write_export(name, mapping, tmp_path)])
        assert parse_mapping(guess.encode(), name), guess


def test_each_mapping_that_comes_with_masthead_has_a_form_and_a_section_of_the_manual() -> None:
    manual = (FORMS.parents[2] / "docs" / "exports.md").read_text(encoding="utf-8")
    for name in shipped_names():
        assert not (FORMS / name / "mapping.toml").exists()
        assert name in NAMES
        assert f"## {name}\n" in manual


def test_a_mapping_is_a_file_or_has_the_name_of_one_that_comes_with_masthead(
    tmp_path: Path,
) -> None:
    assert mapping_named(tmp_path / "mine.toml") == tmp_path / "mine.toml"
    assert mapping_named(Path("ghost-members")).name == "ghost-members.toml"
    with pytest.raises(BadInput, match="the nearest is 'ghost-members', and there are ghost-mem"):
        mapping_named(Path("ghosts"))


def main() -> None:
    """Write the records of the forms that are named, or of all."""
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(sys.argv[1:] or NAMES, 1):
            with closing(open_store(f"sqlite:///{folder}/m.db")) as store:
                publisher = Publisher("", Path(folder), number, store=store)
                try:
                    records = records_of(name, publisher)
                except BadInput as refusal:
                    sys.stderr.write(f"{name}: {refusal}\n")
                    continue
            (FORMS / name / RECORDS).write_text(records, encoding="utf-8")


if __name__ == "__main__":
    main()
