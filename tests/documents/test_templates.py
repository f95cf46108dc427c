"""Templates that a publisher changes: errors with their place, and limits."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from masthead.documents.checking import try_templates
from masthead.documents.letter_samples import samples
from masthead.documents.rendering import Appearance, Limits, Renderer
from masthead.documents.samples import invoice
from masthead.documents.template_files import export_templates
from masthead.errors import BadInput, MastheadError
from tests.documents.shown import lines_of, made

INVOICE = invoice()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the templates, for changing."""
    export_templates(tmp_path / "templates")
    return tmp_path / "templates"


def _changed(folder: Path, name: str, old: str, new: str) -> int:
    """Change a template, and return the number of the line that changed."""
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


def test_a_copy_of_the_templates_makes_the_same_documents(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == [
        "announcement.typ",
        "base.typ",
        "cancellation.typ",
        "cover_sheet.typ",
        "gift_card.typ",
        "invoice.typ",
        "labels.typ",
        "reminder.typ",
        "renewal_letter.typ",
        "requalification.typ",
        "texts.typ",
        "welcome.typ",
    ]
    assert made(INVOICE, Appearance(templates=folder)) == made(INVOICE)


def test_a_changed_word_is_printed_and_files_that_are_not_there_are_the_shipped_ones(
    folder: Path,
) -> None:
    _changed(folder, "texts.typ", '(invoice: "Rechnung"', '(invoice: "Faktura"')
    (folder / "base.typ").unlink()
    (folder / "invoice.typ").unlink()
    assert "Faktura 2026-000123" in lines_of(made(INVOICE, Appearance(templates=folder)))


def test_an_exported_file_is_not_written_over(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
    (folder / "invoice.typ").write_text("mine")
    with pytest.raises(BadInput, match=r"has a file invoice\.typ already: nothing was written"):
        export_templates(folder)
    assert (folder / "invoice.typ").read_text() == "mine"
    assert not (folder / "base.typ").exists()


@pytest.mark.parametrize(
    ("name", "old", "new", "why"),
    [
        ("invoice.typ", "data.kind)", "data.kindd)", "dictionary does not contain key"),
        ("invoice.typ", "#let totals", "#let (totals", "unclosed delimiter"),
        ("base.typ", "fill: colour, weight", "fill: colur, weight", "unknown variable: colur"),
        ("texts.typ", '"Kundennummer"', "nummer", "unknown variable: nummer"),
        ("base.typ", '"Libertinus Serif"', '"Libertine"', "unknown font family: libertine"),
    ],
)
def test_an_error_of_a_template_has_its_file_and_line(
    folder: Path, name: str, old: str, new: str, why: str
) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    line = text[: text.index(old)].count("\n") + 1
    with pytest.raises(BadInput, match=rf"{re.escape(f'{folder}/{name}')}, line {line}: .*{why}"):
        try_templates(Appearance(templates=folder))


def test_a_check_says_in_which_sample_a_template_fails(folder: Path) -> None:
    _changed(folder, "invoice.typ", "(t.credited)(data.total)", "(t.creditd)(data.total)")
    with pytest.raises(BadInput, match=r"in the sample credit_note-en$"):
        try_templates(Appearance(templates=folder))


def test_a_check_makes_each_sample() -> None:
    made_ = try_templates(Appearance())
    assert [each.name for each in made_] == [name for name, _ in samples()]
    assert all(each.pdf.startswith(b"%PDF-") for each in made_)


def test_one_error_does_not_end_the_renderer(folder: Path) -> None:
    _changed(folder, "invoice.typ", "(t.credited)(data.total)", '{ panic("no") }')
    with Renderer(Appearance(templates=folder)) as renderer:
        before = renderer.pdf(INVOICE)
        with pytest.raises(BadInput, match="panicked with: no"):
            renderer.pdf(invoice("credit_note"))
        assert renderer.pdf(INVOICE) == before


def test_pages_without_end_end_with_a_sentence(folder: Path) -> None:
    _changed(
        folder,
        "invoice.typ",
        "(t.credited)(data.total)",
        "range(3000000).map(n => pagebreak()).join()",
    )
    with Renderer(Appearance(templates=folder), limits=Limits(seconds=2)) as renderer:
        before = renderer.pdf(INVOICE)
        with pytest.raises(
            BadInput, match=r"C2026-000009 was not made within 2 seconds: a template"
        ):
            renderer.pdf(invoice("credit_note"))
        assert renderer.pdf(INVOICE) == before


def test_a_template_that_takes_too_much_memory_ends_with_a_sentence(folder: Path) -> None:
    _changed(
        folder,
        "invoice.typ",
        "(t.credited)(data.total)",
        "range(200).fold((1,) * 1000000, (all, n) => all + all).len()",
    )
    with (
        Renderer(Appearance(templates=folder), limits=Limits(memory=600 << 20)) as renderer,
        pytest.raises(BadInput, match="needs more than 600 MiB of memory"),
    ):
        renderer.pdf(invoice("credit_note"))


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ('#read("/etc/passwd")', "file not found"),
        ('#read("../../../../etc/passwd")', "would escape the project root"),
        ('#import "@preview/tablex:0.0.8": tablex', "templates use no packages"),
        ('#import "@local/tablex:0.0.8": tablex', "package not found"),
    ],
)
def test_a_template_reads_only_its_folder(folder: Path, code: str, why: str) -> None:
    """decisions, "How documents are made"."""
    path = folder / "texts.typ"
    path.write_text(f"{code}\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    with pytest.raises(BadInput, match=rf"texts\.typ, line 1: .*{why}"):
        made(INVOICE, Appearance(templates=folder))


def test_a_template_knows_no_other_day_than_that_of_the_invoice(folder: Path) -> None:
    _changed(
        folder,
        "invoice.typ",
        "(t.credited)(data.total)",
        'text(datetime.today().display("[year]-[month]-[day]"))',
    )
    appearance = Appearance(templates=folder)
    assert "2026-11-28" in lines_of(made(invoice("credit_note"), appearance))


def test_a_picture_that_is_none_is_named() -> None:
    with pytest.raises(BadInput, match=r"base\.typ, line \d+: .*image"):
        made(INVOICE, Appearance(logo=("png", b"no picture")))


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"there is no folder .*nowhere"):
        Renderer(Appearance(templates=tmp_path / "nowhere"))


def test_a_folder_of_other_things_is_refused(tmp_path: Path) -> None:
    for number in range(501):
        (tmp_path / f"{number}.txt").touch()
    with pytest.raises(BadInput, match="has more than 500 files"):
        Renderer(Appearance(templates=tmp_path))


def test_no_process_and_no_folder_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("masthead.temporary.MEMORY", tmp_path)
    with Renderer(Appearance()) as renderer:
        renderer.pdf(INVOICE)
        child = renderer._idle.get()
        renderer._idle.put(child)
        assert child is not None
        assert list(tmp_path.iterdir()) != []
    assert child._process.poll() is not None
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_dies_by_itself_is_named(folder: Path) -> None:
    with Renderer(Appearance(templates=folder)) as renderer:
        renderer.pdf(INVOICE)
        child = renderer._idle.get()
        renderer._idle.put(child)
        assert child is not None
        os.kill(child._process.pid, 9)
        with pytest.raises(MastheadError, match="ended with -9 at 2026-000123"):
            renderer.pdf(INVOICE)
        assert renderer.pdf(INVOICE)


def test_typst_is_loaded_only_in_the_children() -> None:
    code = (
        "import sys; from masthead.documents import checking, rendering; "
        "print(sorted({'typst', 'segno', 'babel', 'lxml', 'facturx'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_font_in_the_folder_is_used(folder: Path) -> None:
    fonts = Path(pytest.importorskip("matplotlib").get_data_path()) / "fonts" / "ttf"
    (folder / "fonts").mkdir()
    for name in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"):
        (folder / "fonts" / name).write_bytes((fonts / name).read_bytes())
    _changed(folder, "base.typ", '"Libertinus Serif"', '"DejaVu Sans"')
    pdf = made(INVOICE, Appearance(templates=folder))
    assert b"+DejaVuSans-Bold" in pdf
    assert b"+Libertinus" not in pdf
    assert "Rechnung 2026-000123" in lines_of(pdf)


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("masthead.documents.rendering._NEEDED", ("babel", "no_such_package"))
    with pytest.raises(BadInput, match="no_such_package, which is not installed here") as refused:
        Renderer(Appearance())
    assert refused.value.code == "needs_billing_packages"
