"""The glossary: in order, a sentence for each term, and only terms that are used."""

import re

from tests.docs.pages import ROOT

GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
_HEAD, _RULE, *ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", GLOSSARY, re.MULTILINE)


def test_the_terms_are_in_order_and_each_has_one_sentence() -> None:
    terms = [term for term, _ in ROWS]
    assert terms == sorted(set(terms))
    for term, meaning in ROWS:
        assert re.fullmatch(r"[A-Z][^.]+\.", meaning), term


def test_each_term_is_used() -> None:
    """In another page, where people meet it."""
    pages = [*ROOT.glob("docs/*.md"), ROOT / "README.md"]
    text = " ".join(page.read_text("utf-8") for page in pages if page.name != "glossary.md")
    text = " ".join(text.lower().split())
    words = [word for term, _ in ROWS for word in term.split(", ")]
    assert [word for word in words if not re.search(rf"\b{word.lower()}", text)] == []
