"""Draws ``docs/images/house.svg``: the rooms in their layers, and which of them imports which.

Run by ``make docs``; a test holds the drawing against what this would write. The layers are those
of import-linter in ``pyproject.toml``. An arrow that follows from others is left out: ``cli``
imports ``api`` too, but it imports ``emulator``, which imports ``api``.
"""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "images" / "house.svg"
SHARED = ("extras", "http_server", "log", "private_files", "server_socket", "settings", "temporary")
"""Modules that any room above them may import; no arrows lead to them."""

BELOW = ("contract", "errors")
"""What everything may import."""

COLUMNS = {
    "api": 2,
    "bank_files": 0.2,
    "billing": 1,
    "books": 0,
    "checker": 5,
    "circulation": 1.2,
    "cli": 2.6,
    "client": 4,
    "console": 0,
    "databases": 3.2,
    "dlt": 4,
    "documents": 1,
    "emulator": 2,
    "loading": 1,
    "mail": 2.2,
    "mirror": 4,
    "pytest_plugin": 1.2,
    "readers": 1,
    "reporting": 0.8,
    "sample_data": 3,
    "singer": 5,
    "store": 2,
    "tap": 5,
    "web": 0,
}
"""Where each room stands from left to right, so that no arrow crosses the box of another room."""

_COLUMN_WIDTH, _WIDTH = 160, 960
_BOX_WIDTH, _BOX_HEIGHT, _ROW_HEIGHT, _MARGIN = 128, 40, 92, 20
_STYLE = """
    text { font: 15px system-ui, sans-serif; fill: #1f2328; text-anchor: middle; }
    text.small { font-size: 13px; fill: #59636e; }
    rect.paper { fill: #ffffff; }
    rect.room { fill: #eef4fb; stroke: #3b6ea5; }
    rect.below { fill: #f6f1e5; stroke: #9a7b2f; }
    path { fill: none; stroke: #7d8590; stroke-width: 1.5; marker-end: url(#arrow); }
    marker path { fill: #7d8590; stroke: none; marker-end: none; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      text.small { fill: #9198a1; }
      rect.paper { fill: #0d1117; }
      rect.room { fill: #15263a; stroke: #6ea8e0; }
      rect.below { fill: #2b2413; stroke: #c9a44c; }
    }
"""


def layers() -> list[list[str]]:
    """Return the rooms of each layer, the highest first, as import-linter keeps them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (of_rooms,) = (
        contract["layers"]
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract.get("containers") == ["masthead"]
    )
    return [layer.split(" | ") for layer in of_rooms]


def imports(rooms: list[str]) -> dict[str, set[str]]:
    """Return what each room imports of the others, directly and not already through another one."""
    graph = grimp.build_graph("masthead", cache_dir=None)
    modules = {
        room: {f"masthead.{room}"} | graph.find_descendants(f"masthead.{room}") for room in rooms
    }
    direct: dict[str, set[str]] = {room: set() for room in rooms}
    for room in reversed(rooms):
        found = {
            imported
            for module in modules[room]
            for imported in graph.find_modules_directly_imported_by(module)
        }
        direct[room] = {other for other in rooms if other != room and modules[other] & found}
    return {
        room: {
            other
            for other in others
            if not any(other in _reached(direct, between) for between in others - {other})
        }
        for room, others in direct.items()
    }


def _reached(direct: dict[str, set[str]], start: str) -> set[str]:
    """Return all rooms that ``start`` imports, also through others."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = direct[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def drawing() -> str:
    """Return the whole drawing."""
    rows = [[room for room in layer if room not in {*SHARED, *BELOW}] for layer in layers()]
    rows = [row for row in rows if row]
    arrows = imports([room for row in rows for room in row])
    places = {
        room: (
            round(_COLUMN_WIDTH * (COLUMNS[room] + 0.5)),
            _MARGIN + _BOX_HEIGHT // 2 + _ROW_HEIGHT * number,
        )
        for number, row in enumerate(rows)
        for room in row
    }
    height = _MARGIN + _ROW_HEIGHT * len(rows) + 2 * (_BOX_HEIGHT + _MARGIN)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img"',
        '    aria-label="The rooms in their layers; arrows lead to what a room imports">',
        f"  <style>{_STYLE}  </style>",
        '  <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"',
        '      orient="auto"><path d="M0 0 8 4 0 8z"/></marker>',
        f'  <rect class="paper" width="{_WIDTH}" height="{height}"/>',
        *_arrows(arrows, places),
        *(_box("room", room, *place, _BOX_WIDTH) for room, place in places.items()),
        *_below(_MARGIN + _ROW_HEIGHT * len(rows)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _arrows(arrows: dict[str, set[str]], places: dict[str, tuple[int, int]]) -> Iterator[str]:
    for room, others in arrows.items():
        x, y = places[room]
        top = y + _BOX_HEIGHT // 2
        for other in sorted(others):
            end_x, end_y = places[other]
            bottom = end_y - _BOX_HEIGHT // 2
            yield (
                f'  <path d="M{x} {top}C{x} {top + 40} {end_x} {bottom - 40} {end_x} {bottom}"/>'
            )


def _box(kind: str, name: str, x: int, y: int, width: int) -> str:
    left, top = x - width // 2, y - _BOX_HEIGHT // 2
    return (
        f'  <rect class="{kind}" x="{left}" y="{top}" width="{width}" height="{_BOX_HEIGHT}"\n'
        f'      rx="6"/>\n  <text x="{x}" y="{y + 5}">\n    {name}\n  </text>'
    )


def _below(y: int) -> Iterator[str]:
    width = _WIDTH - 2 * _MARGIN
    yield _box("below", " · ".join(SHARED), _WIDTH // 2, y + _BOX_HEIGHT // 2, width)
    y += _BOX_HEIGHT + _MARGIN
    yield _box("below", " · ".join(BELOW), _WIDTH // 2, y + _BOX_HEIGHT // 2, width)


if __name__ == "__main__":
    PAGE.write_text(drawing(), encoding="utf-8")
    sys.stdout.write(f"{PAGE.name} written\n")
