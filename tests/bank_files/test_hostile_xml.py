"""XML that would harm a reader: it is refused in one sentence, and nothing else is read."""

from pathlib import Path

import pytest

from masthead.bank_files.xml_nodes import DEPTH_MAX, PARTS_MAX, TEXT_MAX
from masthead.errors import BadInput
from tests.bank_files.camt_files import Booked, Detail, document
from tests.bank_files.reading import entries_in


def _typed(declaration: str, text: str = "x") -> str:
    written = document([Booked(details=[Detail(name="NAME")])]).replace("NAME", text)
    return written.replace("?>\n", f"?>\n{declaration}\n", 1)


@pytest.mark.parametrize(
    ("declaration", "text"),
    [
        ("<!DOCTYPE Document>", "x"),
        ('<!DOCTYPE Document [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>', "&b;"),
        ('<!DOCTYPE Document [<!ENTITY a SYSTEM "file:///etc/hostname">]>', "&a;"),
        ('<!DOCTYPE Document SYSTEM "http://localhost/other.dtd">', "x"),
        ('<!DOCTYPE Document [<!ENTITY % a SYSTEM "http://localhost/a"> %a;]>', "x"),
    ],
)
def test_a_file_with_a_document_type_is_refused(
    tmp_path: Path, declaration: str, text: str
) -> None:
    with pytest.raises(BadInput, match="line 2: names a document type"):
        entries_in(tmp_path, _typed(declaration, text))


def test_an_entity_without_a_declaration_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="undefined entity"):
        entries_in(tmp_path, _typed("", "&secret;"))


def test_elements_that_are_nested_too_deep_are_refused(tmp_path: Path) -> None:
    deep = "<a>" * DEPTH_MAX + "</a>" * DEPTH_MAX
    with pytest.raises(BadInput, match=f"deeper than {DEPTH_MAX} levels"):
        entries_in(tmp_path, document([Booked()]).replace("<Refs>", f"<Refs>{deep}"))


def test_an_entry_with_too_many_elements_is_refused(tmp_path: Path) -> None:
    many = "<a/>" * (PARTS_MAX + 1)
    with pytest.raises(BadInput, match="more than 10,000 elements"):
        entries_in(tmp_path, document([Booked()]).replace("<Refs>", f"<Refs>{many}"))


def test_a_text_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="longer than 20,000 characters"):
        entries_in(tmp_path, _typed("", "x" * (TEXT_MAX + 1)))


def test_an_unknown_encoding_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="encoding"):
        entries_in(tmp_path, document([Booked()]).replace("UTF-8", "x-unknown"))
