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

_MAIN = b"""#import "/invoice.typ": invoice
#let data = json(bytes(sys.inputs.data))
#let (year, month, day) = data.date.split("-").map(int)
#set document(
  title: data.title,
  author: data.seller.name,
  date: datetime(year: year, month: month, day: day),
)
#pdf.attach(
  "factur-x.xml",
  bytes(data.xml),
  relationship: "alternative",
  mime-type: "text/xml",
  description: "Factur-X",
)
#invoice(data)
"""
"""The document around a template: what no template may leave out."""

_MISSING = "could not be displayed with font"
_PRIVATE = "the PDF contains the codepoint"
_REPLACEMENT = "\ufffd"
_PLACE = re.compile(r"┌─ (\S.*?):(\d+):\d+$", re.MULTILINE)
_UNKNOWN_FONT = "unknown font family"
_NETWORK = "failed to download package"
_STANDARD = re.compile(r"^PDF/A-3a error: ")


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

    def pdf(self, data: dict[str, Any]) -> bytes:
        """Return the PDF of an invoice, from what ``template_data.invoice_data`` returns.

        Characters that no font has are replaced by U+FFFD. Raises BadInput for an error of a
        template, and for a font that is not there, with the file and line.
        """
        try:
            pdf = self._compiled(_MAIN, data)
        except typst.TypstError as error:
            if _MISSING not in error.diagnostic and _PRIVATE not in error.diagnostic:
                raise _sentence(error, self._folder) from error
            shown = {name: self._shown(value) for name, value in data.items() if name != "xml"}
            try:
                pdf = self._compiled(_MAIN, data | shown)
            except typst.TypstError as second:
                raise _sentence(second, self._folder) from second
        return named_as_invoice(pdf)

    def png(self, data: dict[str, Any]) -> list[bytes]:
        """Return the pages of an invoice as pictures."""
        made = self._typst.compile(
            input=_MAIN, sys_inputs=_inputs(data), format="png", timestamp=_moment(data)
        )
        return made if isinstance(made, list) else [made or b""]

    def _compiled(self, main: bytes, data: dict[str, Any]) -> bytes:
        made, warnings = self._typst.compile_with_warnings(
            input=main,
            sys_inputs=_inputs(data),
            format="pdf",
            pdf_standards=["a-3a"],
            timestamp=_moment(data),
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
                    b'#set document(title: "-")\n#json(bytes(sys.inputs.data)).text',
                    {"text": character, "date": "2000-01-01"},
                )
            except typst.TypstError:
                self._has_glyph[character] = False
            else:
                self._has_glyph[character] = True
        return self._has_glyph[character]


def _inputs(data: dict[str, Any]) -> dict[str, str]:
    return {"data": msgspec.json.encode(data).decode()}


def _moment(data: dict[str, Any]) -> int:
    return int(datetime.fromisoformat(data["date"]).replace(tzinfo=UTC).timestamp())


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
