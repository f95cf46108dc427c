"""The styles of a workbook's cells: which numbers are dates, durations and codes."""

from masthead.loading.cleaning import BadCell, ShownNumber
from masthead.loading.number_formats import ShowCode, code_format
from masthead.loading.package_parts import Part, TooMuchError

_FORMAT_MAX = 255
_FORMATS_MAX = 2_000
"""The maximum length of a number format, and how many a workbook may have. Excel writes 250."""

_WHOLE_MAX = 1e15
"""Spreadsheets keep 15 digits of a number."""


class Styles:
    """What numbers mean; ``is_1904``: days are counted from 1904."""

    def __init__(self) -> None:
        self.is_1904 = False
        self._dates: set[int] = set()
        self._durations: set[int] = set()
        self._codes: dict[int, ShowCode] = {}

    def read(self, part: Part) -> None:
        """Note which styles of cells are for dates, durations and codes. Raises TooMuchError."""
        codes: dict[str, str] = {}
        formats: list[str] = []
        is_of_cells = False

        def start(name: str, attributes: dict[str, str]) -> None:
            nonlocal is_of_cells
            if name == "numFmt":
                codes[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
            elif name == "cellXfs":
                is_of_cells = True
            elif name == "xf" and is_of_cells:
                formats.append(attributes.get("numFmtId", "0"))

        def end(name: str) -> None:
            nonlocal is_of_cells
            is_of_cells = is_of_cells and name != "cellXfs"

        part.run(start, end)
        by_id: dict[str, set[int]] = {}
        for number, id_ in enumerate(formats):
            by_id.setdefault(id_, set()).add(number)
        if len(by_id) > _FORMATS_MAX:
            raise TooMuchError(f"has more than {_FORMATS_MAX} number formats")
        for id_, styles in by_id.items():
            self._note(codes.get(id_), id_, styles)

    def _note(self, code: str | None, id_: str, styles: set[int]) -> None:
        """Note what a number format is; ``code`` is None if it is a standard one."""
        from openpyxl.styles import numbers  # noqa: PLC0415 - takes a tenth of a second

        code = (code or numbers.builtin_format_code(int(id_)) or "")[:_FORMAT_MAX]
        if numbers.is_date_format(code):
            self._dates |= styles
            if numbers.is_timedelta_format(code):
                self._durations |= styles
        elif show := code_format(code):
            self._codes |= dict.fromkeys(styles, show)

    def value(self, text: str, style: str) -> object:
        """Return a number, or a date, duration or code if the style says so."""
        number = float(text) if "." in text or "E" in text or "e" in text else int(text)
        if isinstance(number, float) and abs(number) > _WHOLE_MAX:
            return BadCell(
                text,
                "the number has more digits than the 15 that spreadsheets keep: take the column "
                "from the original file as text",
            )
        if not style:
            return number
        if (show := self._codes.get(int(style))) and number >= 0 and number % 1 == 0:
            shown = show(int(number))
            return ShownNumber(shown, str(int(number))) if shown else number
        if int(style) not in self._dates:
            return number
        from openpyxl.utils import datetime as days  # noqa: PLC0415 - takes a tenth of a second

        epoch = days.MAC_EPOCH if self.is_1904 else days.WINDOWS_EPOCH
        try:
            return days.from_excel(number, epoch, timedelta=int(style) in self._durations)
        except (OverflowError, ValueError):
            return BadCell(text, f"the cell is formatted as a date, and {text[:20]} is no day")
