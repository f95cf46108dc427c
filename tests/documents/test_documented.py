"""docs/documents.md names each field that a template gets."""

import re
from pathlib import Path

import pytest

from masthead.documents.document_data import data_of
from masthead.documents.kinds import RECORDS
from masthead.documents.letter_samples import samples
from masthead.documents.template_files import SHIPPED
from masthead.documents.words import Look

PAGE = Path(__file__).parents[2] / "docs" / "documents.md"
NAMED = set(re.findall(r"`([a-z_]+)`", PAGE.read_text(encoding="utf-8")))


@pytest.mark.parametrize("template", RECORDS)
def test_each_field_of_a_template_is_in_the_page(template: str) -> None:
    printed = next(each for _, each in samples() if isinstance(each, RECORDS[template]))
    fields = set(data_of(printed, Look()))
    assert fields <= NAMED
    used = set(re.findall(r"\bdata\.([a-z_]+)", (SHIPPED / f"{template}.typ").read_text("utf-8")))
    assert used <= fields | {"at", "index"}


@pytest.mark.parametrize("template", RECORDS)
def test_each_template_has_a_sample_in_each_language(template: str) -> None:
    found = [printed for _, printed in samples() if isinstance(printed, RECORDS[template])]
    assert {printed.language for printed in found} == {"en", "de"}
