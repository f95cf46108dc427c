"""Reading XML of other people, one part after the other, without what can harm.

Such a file may name no document type and so no entities, which could grow or read other files. The
depth, the parts of an element and the lengths of texts have limits. Nothing outside of the file is
read.
"""

from collections.abc import Callable, Iterator
from typing import IO
from xml.parsers import expat

from masthead.bank_files.entries import BadValueError, shown

DEPTH_MAX = 40
"""The depth of a file; camt has less than 20."""

TEXT_MAX = 20_000
"""The length of a text; camt has 500 characters at most."""

PARTS_MAX = 10_000
"""How many elements a part of a file may have at once."""

_CHUNK = 1 << 16
_SEPARATOR = "}"


class Node:
    """An element: its name without its namespace, its text, currency, and the elements in it."""

    __slots__ = ("children", "currency", "line", "name", "pieces")

    def __init__(self, name: str, line: int, currency: str = "") -> None:
        self.name = name
        self.line = line
        self.currency = currency
        self.children: list[Node] = []
        self.pieces: list[str] = []

    @property
    def text(self) -> str:
        """The text of the element, without spaces at its ends."""
        return "".join(self.pieces).strip()

    def all(self, path: str) -> list["Node"]:
        """Return the elements at a path such as ``Refs/EndToEndId``."""
        found = [self]
        for name in path.split("/"):
            found = [child for node in found for child in node.children if child.name == name]
        return found

    def first(self, *paths: str) -> "Node | None":
        """Return the first element at the first path that has one."""
        return next((node for path in paths for node in self.all(path)), None)

    def value(self, *paths: str) -> str:
        """Return the first text at the paths, "" without one."""
        return next((node.text for path in paths for node in self.all(path) if node.text), "")


class _Tree:
    """The open elements of a file, and the parts that are complete."""

    def __init__(self, is_part: Callable[[str, int], bool], parser: expat.XMLParserType) -> None:
        self.namespace = ""
        self.complete: list[Node] = []
        self._is_part = is_part
        self._parser = parser
        self._open: list[Node] = []
        self._count = 0
        self._length = 0

    def start(self, written: str, attributes: dict[str, str]) -> None:
        namespace, _, name = written.rpartition(_SEPARATOR)
        if not self._open:
            self.namespace = namespace if name == "Document" else shown(name)
        self._count += 1
        if len(self._open) >= DEPTH_MAX:
            raise BadValueError(f"elements are nested deeper than {DEPTH_MAX} levels")
        if self._count > PARTS_MAX:
            raise BadValueError(f"an entry has more than {PARTS_MAX:,} elements")
        node = Node(name, self._parser.CurrentLineNumber, attributes.get("Ccy", ""))
        if self._open:
            self._open[-1].children.append(node)
        self._open.append(node)
        self._length = 0

    def end(self, _: str) -> None:
        node = self._open.pop()
        if self._is_part(node.name, len(self._open)):
            # It is handed on, so the element around it does not keep it.
            if self._open:
                self._open[-1].children.pop()
            self.complete.append(node)
            self._count = 0

    def data(self, text: str) -> None:
        self._length += len(text)
        if self._length > TEXT_MAX:
            raise BadValueError(f"a text is longer than {TEXT_MAX:,} characters")
        self._open[-1].pieces.append(text)


def _refuse_type(*_: object) -> None:
    raise BadValueError("names a document type, whose entities are not read")


def parts_of(file: IO[bytes], is_part: Callable[[str, int], bool]) -> Iterator[tuple[str, Node]]:
    """Yield each element for whose name and depth ``is_part``, when it is complete.

    The outermost element has the depth 0; its namespace comes with each, or its name if it is not
    ``Document``. The parts within a part come first, and it does not have them. Raises
    BadValueError, with the line, for a file that is not well-formed XML, or is refused.
    """
    parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
    parser.buffer_text = True
    tree = _Tree(is_part, parser)
    parser.StartElementHandler = tree.start
    parser.EndElementHandler = tree.end
    parser.CharacterDataHandler = tree.data
    parser.StartDoctypeDeclHandler = _refuse_type
    parser.EntityDeclHandler = _refuse_type
    try:
        while chunk := file.read(_CHUNK):
            parser.Parse(chunk, False)
            yield from ((tree.namespace, node) for node in tree.complete)
            tree.complete.clear()
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise BadValueError(f"line {error.lineno}: is not well-formed XML: {reason}") from None
    except (LookupError, ValueError) as error:
        if isinstance(error, BadValueError):
            raise BadValueError(f"line {parser.CurrentLineNumber}: {error}") from None
        raise BadValueError("its encoding is unknown") from None
    yield from ((tree.namespace, node) for node in tree.complete)
