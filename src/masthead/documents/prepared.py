"""A document whose data are read: its PDF is made without the database."""

from typing import NamedTuple

from masthead.documents.kinds import Printed
from masthead.documents.rendering import Appearance, Renderer


class Prepared(NamedTuple):
    """What a document prints, and how it looks.

    Making its PDF takes much longer than reading these, so give the database's connection back
    before (decisions, "A PDF without a connection").
    """

    printed: Printed
    appearance: Appearance

    def pdf(self) -> bytes:
        """Return the PDF.

        Raises BadInput for an error of a template, with its file and line, and for missing
        packages.
        """
        with Renderer(self.appearance) as renderer:
            return renderer.pdf(self.printed)
