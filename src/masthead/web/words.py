"""Marks the texts of this package for the catalogues of translations."""


def marked(text: str) -> str:
    """Return the text. Babel finds it in the source by this call; who shows it translates it."""
    return text
