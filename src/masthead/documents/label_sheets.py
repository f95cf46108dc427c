"""The common forms of sheets with address labels, in millimetres."""

from typing import NamedTuple

from masthead.errors import BadInput


class Sheet(NamedTuple):
    """A sheet: its paper, how many labels it has across and down, and where they stand.

    ``width`` and ``height`` are those of a label; ``left`` and ``top`` are the margins of the
    sheet, and ``gap`` is the space between two labels beside each other. All are millimetres.
    """

    name: str
    meaning: str
    paper: str
    columns: int
    rows: int
    width: float
    height: float
    left: float
    top: float
    gap: float = 0

    @property
    def labels(self) -> int:
        """How many labels a sheet has."""
        return self.columns * self.rows


SHEETS = {
    sheet.name: sheet
    for sheet in (
        Sheet("3x8", "A4, 70 x 37 mm (Avery 3474, Herma 4462)", "a4", 3, 8, 70, 37, 0, 0.5),
        Sheet("3x7", "A4, 63.5 x 38.1 mm (Avery L7160)", "a4", 3, 7, 63.5, 38.1, 7.2, 15.15, 2.5),
        Sheet("2x7", "A4, 99.1 x 38.1 mm (Avery L7163)", "a4", 2, 7, 99.1, 38.1, 4.65, 15.15, 2.5),
        Sheet(
            "5160",
            "US Letter, 2 5/8 x 1 inch (Avery 5160)",
            "us-letter",
            *(3, 10, 66.675, 25.4, 4.7625, 12.7, 3.175),
        ),
        Sheet(
            "5163",
            "US Letter, 4 x 2 inches (Avery 5163)",
            "us-letter",
            *(2, 5, 101.6, 50.8, 3.96875, 12.7, 4.7625),
        ),
    )
}
"""The forms by name: ``columns x rows``, or the number that Avery gives the form."""


def sheet_named(name: str) -> Sheet:
    """Return the form with a name. Raises BadInput for a name that no form has."""
    try:
        return SHEETS[name]
    except KeyError:
        raise BadInput(
            f"there is no sheet of labels {name!r}: those known are {', '.join(SHEETS)}"
        ) from None
