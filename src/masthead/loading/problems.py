"""The messages of a refused load: its problems, each with file, line and column."""

import re
from collections.abc import Iterable, Iterator, Sequence

from masthead.contract.printable import printable
from masthead.loading.batches import QUOTED_MAX
from masthead.loading.mapping_files import Input
from masthead.loading.mapping_rows import MappedFile
from masthead.store.natural_keys import NaturalKeys
from masthead.store.staging import NUMBERS_PER_FILE, Problem

PROBLEMS_SHOWN_MAX = 100

_ID = re.compile(r"(?<!line )\b[0-9]{1,19}\b")


def with_keys(
    files: Sequence[Input], keys: NaturalKeys, problems: Iterable[Problem]
) -> Iterator[Problem]:
    """Yield the problems, with natural keys instead of the ids that the load has given to them."""
    for problem in problems:
        file, part = files[problem.file // NUMBERS_PER_FILE], problem.file % NUMBERS_PER_FILE
        name = file.key_of(part - 1, problem.column) if isinstance(file, MappedFile) else None
        if name is None:
            yield problem
        else:

            def text(found: re.Match[str], name: str = name) -> str:
                return keys.text_of(name, int(found.group())) or found.group()

            yield problem._replace(sentence=_ID.sub(text, problem.sentence))


class Reported:
    """The problems of a batch's rows by the columns of the source, so that each is told once."""

    def __init__(self) -> None:
        self._places: set[tuple[int, str, str]] = set()

    def is_new(self, line: int, columns: Iterable[str], sentence: str) -> bool:
        """Return whether no former problem of the line has the sentence and one of the columns."""
        places = {(line, column, sentence) for column in columns}
        is_new = self._places.isdisjoint(places)
        self._places |= places
        return is_new


def told_alone(label: str, line: int, value: str, count: int) -> str:
    """Return a sentence about the first of ``count`` lines of a file with only one value.

    They may be titles or notes.
    """
    rows = f" ({count} such rows)" if count > 1 else ""
    value = repr(value[:QUOTED_MAX])
    return f"{label}:{line}: has only one value, {value}{rows}: remove what is no record"


def listed(files: Sequence[Input], shown: Iterable[Problem], count: int, advice: str) -> str:
    """Return the message of a refused load: the first of ``count`` problems, and the ``advice``."""
    lines = [f"{_place(files, problem)}: {printable(problem.sentence)}" for problem in shown]
    more = count - len(lines)
    if more > 0:
        lines.append(f"and {more} more {'problem' if more == 1 else 'problems'}")
    return "\n".join([*lines, f"nothing was loaded; {advice}"])


def first_place(files: Sequence[Input], first: Problem, count: int) -> str:
    """Return where the first of ``count`` problems is, without the value that it shows."""
    counted = "1 problem" if count == 1 else f"the first of {count} problems"
    return f"{_place(files, first)}: {counted}"


def _place(files: Sequence[Input], problem: Problem) -> str:
    file = files[problem.file // NUMBERS_PER_FILE]
    return f"{file.label}:{problem.line}: {file.column_of(problem)}"
