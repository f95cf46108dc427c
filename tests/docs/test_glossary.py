"""The glossary: in order, a sentence for each term, only terms that are used, no other words."""

import re
import subprocess

from tests.docs.pages import ROOT

GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
TERMS, OTHERS = GLOSSARY.split("## Words that are not used")
CELLS = re.compile(r"^\| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
_HEAD, _RULE, *ROWS = CELLS.findall(TERMS)
_HEAD, _RULE, *UNUSED = CELLS.findall(OTHERS)
HISTORY = {"docs/decisions.md", "docs/glossary.md", "CHANGELOG.md"}
"""Pages that tell of earlier words, or of words that are not used."""
OF_OTHERS = {
    "buyer": {
        "src/masthead/cli/demo_qualification.py",
        "src/masthead/documents/electronic_invoice.py",
        "src/masthead/loading/guess_words.py",
        "src/masthead/sample_data/generate_publisher.py",
    },
    "customer": {
        "docs/exports.md",
        "docs/mapping.md",
        "src/masthead/loading/guess_words.py",
        "src/masthead/loading/mapping_missing.py",
    },
    "donor": {"src/masthead/loading/guess_words.py"},
}
"""Where others have their own words: their systems and standards, and a publisher's questions."""
NAMES_OF_COUNTRIES = re.compile(r"united[ _](states|kingdom)")


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


def test_a_word_that_is_not_used_stands_for_a_term() -> None:
    words = [word for word, _ in UNUSED]
    assert words == sorted(set(words))
    terms = {term for term, _ in ROWS}
    assert [term for _, term in UNUSED if term not in terms] == []


def test_other_words_stand_nowhere() -> None:
    """In the names, messages, help texts, statements and pages, split into their words."""
    folders = ("src/masthead", "schema", "benchmarks", "docs", "README.md", "CONTRIBUTING.md")
    listed = subprocess.run(
        ["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    )
    texts = {
        path: _words((ROOT / path).read_text(encoding="utf-8"))
        for path in listed.stdout.splitlines()
        if path.endswith((".py", ".sql", ".html", ".md")) and path not in HISTORY
    }
    assert len(texts) > 300
    found = [
        f"{path}: {word}, not {term}"
        for word, term in UNUSED
        for path, text in texts.items()
        if path not in OF_OTHERS.get(word, ()) and re.search(_pattern(word), text)
    ]
    assert found == []


def _pattern(word: str) -> str:
    return rf"\b{word.lower()}{'d?' if word.endswith('e') else ''}s?\b"


def _words(text: str) -> str:
    """Return the words of a text and of its names, ``_an_offer`` and ``anOffer``, in lower case."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    words = " ".join(re.sub(r"[_\W]+", " ", apart).lower().split())
    return NAMES_OF_COUNTRIES.sub("", words)
