"""Mappings that come with Masthead, for the exports of systems that publishers often use."""

from importlib.resources import files
from pathlib import Path

from masthead.errors import BadInput
from masthead.loading.mapping import nearest

_FOLDER = files("masthead.loading").joinpath("mappings")


def shipped_names() -> list[str]:
    """Return the names of the mappings that come with Masthead."""
    return sorted(
        file.name.removesuffix(".toml") for file in _FOLDER.iterdir() if file.name.endswith(".toml")
    )


def mapping_text(given: Path) -> str:
    """Return the text of a mapping. Raises BadInput as :func:`mapping_named` does."""
    file = mapping_named(given)
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{given}: cannot be read") from error


def mapping_named(given: Path) -> Path:
    """Return a mapping file: ``given`` if it exists, or the one of that name of Masthead's own.

    Raises BadInput, which lists the names, if there is neither.
    """
    if given.exists() or given.suffix or given.name != str(given):
        return given
    names = shipped_names()
    if given.name not in names:
        raise BadInput(
            f"there is no file {given}, and no mapping of this name comes with Masthead; "
            f"{nearest(given.name, names)}, and there are {', '.join(names)}"
        )
    return Path(str(_FOLDER.joinpath(f"{given.name}.toml")))
