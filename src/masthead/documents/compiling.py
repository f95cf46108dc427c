"""Makes a PDF of a document with Typst: the only module that loads it (docs/documents.md).

Runs in a child process (``worker``). The fonts are those in Typst and those in the folder ``fonts``
of the templates; those of the machine are not used, so that each machine makes the same bytes.
"""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import typst

from masthead.documents.pdf_metadata import named_as_invoice
from masthead.errors import BadInput

_ATTACHED = """#pdf.attach(
  "factur-x.xml",
  bytes(all.first().xml),
  relationship: "alternative",
  mime-type: "text/xml",
  description: "Factur-X",
)
"""
_MAIN = """#import "/{template}.typ": {template}
#let all = json(bytes(sys.inputs.data))
#let (year, month, day) = all.first().date.split("-").map(int)
#set document(
  title: all.first().title,
  author: all.first().author,
  date: datetime(year: year, month: month, day: day),
)
{attached}#for (index, data) in all.enumerate() {{ {template}(data + (index: index)) }}
"""
"""The document around a template: what no template may leave out."""

_INVOICE, _LABELS = "invoice", "labels"
_MISSING = "could not be displayed with font"
_PRIVATE = "the PDF contains the codepoint"
_REPLACEMENT = "\ufffd"
_PLACE = re.compile(r"┌─ (\S.*?):(\d+):\d+$", re.MULTILINE)
_UNKNOWN_FONT = "unknown font family"
_NETWORK = "failed to download package"
_STANDARD = re.compile(r"^PDF/A-[0-9a-u]+ error: ")


class Compiler:
    """Typst with the templates of one folder; fonts are read once."""

    def __init__(self, folder: Path) -> None:
        """``folder`` has the templates, and nothing that they may not read."""
        fonts = typst.Fonts(
            include_system_fonts=False,
            font_paths=[folder / "fonts"] if (folder / "fonts").is_dir() else [],
        )
        packages = folder / "no packages"
        self._folder = folder
        self._typst = typst.Compiler(
            root=folder,
            font_paths=fonts,
            ignore_system_fonts=True,
            package_path=packages,
            package_cache_path=packages,
        )
        self._has_glyph: dict[str, bool] = {}

    def pdf(self, template: str, documents: list[dict[str, Any]]) -> bytes:
        """Return a PDF of documents, each from what a template gets; an invoice stands alone.

        A document that stands alone is a PDF/A-3a, whose structure a screen reader follows. Labels
        and many letters are for a printer, and a PDF/A-3b, which takes a fifth of the bytes.
        Characters that no font has are replaced by U+FFFD. Raises BadInput for an error of a
        template, and for a font that is not there, with the file and line.
        """
        main = _main(template)
        is_tagged = len(documents) == 1 and template != _LABELS
        try:
            pdf = self._compiled(main, documents, is_tagged=is_tagged)
        except typst.TypstError as error:
            if _MISSING not in error.diagnostic and _PRIVATE not in error.diagnostic:
                raise _sentence(error, self._folder) from error
            shown = [
                data | {name: self._shown(value) for name, value in data.items() if name != "xml"}
                for data in documents
            ]
            try:
                pdf = self._compiled(main, shown, is_tagged=is_tagged)
            except typst.TypstError as second:
                raise _sentence(second, self._folder) from second
        return named_as_invoice(pdf) if template == _INVOICE else pdf

    def png(self, template: str, documents: list[dict[str, Any]]) -> list[bytes]:
        """Return the pages of documents as pictures."""
        made = self._typst.compile(
            input=_main(template),
            sys_inputs=_inputs(documents),
            format="png",
            timestamp=_moment(documents),
        )
        return made if isinstance(made, list) else [made or b""]

    def _compiled(
        self, main: bytes, documents: list[dict[str, Any]], *, is_tagged: bool = True
    ) -> bytes:
        made, warnings = self._typst.compile_with_warnings(
            input=main,
            sys_inputs=_inputs(documents),
            format="pdf",
            pdf_standards=["a-3a" if is_tagged else "a-3b"],
            pdf_tags=is_tagged,
            timestamp=_moment(documents),
        )
        for warning in warnings:
            if warning.message.startswith(_UNKNOWN_FONT):
                raise _sentence(warning, self._folder)
        assert isinstance(made, bytes)
        return made

    def _shown(self, value: Any) -> Any:
        if isinstance(value, str):
            return "".join(
                each if each.isascii() or self._can_show(each) else _REPLACEMENT for each in value
            )
        if isinstance(value, list):
            return [self._shown(each) for each in value]
        if isinstance(value, dict):
            return {name: self._shown(each) for name, each in value.items()}
        return value

    def _can_show(self, character: str) -> bool:
        """Return whether a font has a character, which Typst says only when it makes a PDF/A."""
        if character not in self._has_glyph:
            try:
                self._compiled(
                    b'#set document(title: "-")\n#json(bytes(sys.inputs.data)).first().text',
                    [{"text": character, "date": "2000-01-01"}],
                )
            except typst.TypstError:
                self._has_glyph[character] = False
            else:
                self._has_glyph[character] = True
        return self._has_glyph[character]


def _main(template: str) -> bytes:
    attached = _ATTACHED if template == _INVOICE else ""
    return _MAIN.format(template=template, attached=attached).encode()


def _inputs(documents: list[dict[str, Any]]) -> dict[str, str]:
    return {"data": msgspec.json.encode(documents).decode()}


def _moment(documents: list[dict[str, Any]]) -> int:
    return int(datetime.fromisoformat(documents[0]["date"]).replace(tzinfo=UTC).timestamp())


def _sentence(error: typst.TypstError | typst.TypstWarning, folder: Path) -> BadInput:
    """Return the first error of a template as one sentence, with its file and line."""
    message = _STANDARD.sub("", error.message).replace(f"{folder}/", "")
    if _NETWORK in message:
        message = "a package cannot be loaded: templates use no packages"
    hints = [hint for hint in error.hints if not hint.startswith("at ")]
    hint = f" ({hints[0]})" if hints else ""
    places = [
        f"{name}, line {line}: "
        for name, line in _PLACE.findall(error.diagnostic)
        if not name.startswith("__")
    ]
    return BadInput(f"{places[0] if places else ''}{' '.join(message.split())}{hint}")
