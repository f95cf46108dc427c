"""Rows with several items, each of which counts as a row (docs/mapping.md, "Items")."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from masthead.loading.batches import Cells
from masthead.loading.cleaning import BadCell
from masthead.loading.mapping import Each

_ITEMS_MAX = 500
"""The maximum number of items in a cell."""


def with_items(
    lines: Sequence[int],
    cells: Mapping[str, Cells],
    each: Each,
    has_value: Callable[[str | None], bool],
) -> tuple[list[int], dict[str, Cells]]:
    """Return lines and cells by column with a row for each item; a row without items stays one."""
    if each.between is None:
        rows, found = _of_columns(len(lines), cells, each, has_value)
    else:
        rows, found = _of_cell(cells.get(each.name) or [None] * len(lines), each.name, each.between)
    others = {
        name: [column[row] for row in rows]
        for name, column in cells.items()
        if name not in found and each.item_of(name) is None
    }
    return [lines[row] for row in rows], others | found


def _of_columns(
    count: int, cells: Mapping[str, Cells], each: Each, has_value: Callable[[str | None], bool]
) -> tuple[list[int], dict[str, Cells]]:
    """Return the number of each item's row, and the items' cells, from columns with a number."""
    by_item: dict[str, dict[str, Cells]] = defaultdict(dict)
    names: dict[str, None] = {}
    for column, found in cells.items():
        if item := each.item_of(column):
            number, name = item
            by_item[number][name] = found
            names[name] = None
    numbers = sorted(by_item, key=int)
    items: list[tuple[int, str | None]] = []
    for row in range(count):
        there = [
            number
            for number in numbers
            if any(has_value(column[row]) for column in by_item[number].values())
        ]
        items += [(row, number) for number in there] or [(row, None)]
    nothing: Cells = [None] * count
    without: dict[str, Cells] = {}
    return [row for row, _ in items], {
        name: [
            (without if number is None else by_item[number]).get(name, nothing)[row]
            for row, number in items
        ]
        for name in names
    }


def _of_cell(cells: Cells, name: str, between: str) -> tuple[list[int], dict[str, Cells]]:
    """Return the number of each item's row, and the items, from a cell that has all of them."""
    known = {cell: _items(cell, between) for cell in set(cells)}
    pairs = [(row, item) for row, cell in enumerate(cells) for item in known[cell]]
    return [row for row, _ in pairs], {name: [item for _, item in pairs]}


def _items(cell: str | None, between: str) -> Sequence[str | None]:
    if cell is None or isinstance(cell, BadCell):
        return [cell]
    if cell.count(between) >= _ITEMS_MAX:
        return [BadCell(cell, f"has more than {_ITEMS_MAX} items")]
    return [item for item in map(str.strip, cell.split(between)) if item] or [""]
