"""Tries templates on made-up documents of each kind in each language."""

from typing import NamedTuple

from masthead.documents.letter_samples import samples
from masthead.documents.rendering import Appearance, Limits, Renderer
from masthead.errors import MastheadError


class Tried(NamedTuple):
    """A made-up document by its name, such as ``receipt-de``, and its PDF."""

    name: str
    pdf: bytes


def try_templates(appearance: Appearance, limits: Limits | None = None) -> list[Tried]:
    """Return the PDF of each made-up document.

    Raises BadInput for the first error of a template, with its file, its line, and the document.
    """
    made: list[Tried] = []
    with Renderer(appearance, limits=limits) as renderer:
        for name, printed in samples():
            try:
                made.append(Tried(name, renderer.pdf(printed)))
            except MastheadError as error:
                raise type(error)(f"{error}, in the sample {name}") from error
    return made
