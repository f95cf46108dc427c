"""Finding the files of a load with a mapping: mapped and plain files."""

from collections.abc import Callable, Sequence
from pathlib import Path

from masthead.contract.records import ACCOUNTS, TABLES_BY_NAME
from masthead.errors import BadInput
from masthead.loading.files import InputFile, find_files, found_in, input_file
from masthead.loading.mapping import FileMapping, nearest
from masthead.loading.mapping_rows import MappedFile, is_of_workbook
from masthead.loading.mapping_toml import read_mapping
from masthead.loading.sources import complete, header_of, stem_and_format, unpacked_name

Input = InputFile | MappedFile


def find_inputs(
    paths: Sequence[Path], mapping: Path | None, *, marker: str | None = None
) -> list[Input]:
    """Return the files of ``paths``; those whose name matches ``mapping`` are mapped.

    Others are plain files, named after their table. A file ``marker`` is ignored. Raises BadInput
    for mistakes in the mapping, as :func:`find_files` does, and for a file that is neither.
    """
    if mapping is None:
        return [*find_files(paths)]
    entries = read_mapping(mapping, is_delivered=mapping.parent in paths)

    def is_wanted(path: Path) -> bool:
        is_mapping = path.resolve() == mapping.resolve()
        has_format = bool(stem_and_format(path)[1])
        return (
            not is_mapping
            and path.name != marker
            and (has_format or _entry(entries, path) is not None)
        )

    inputs: list[Input] = []
    strange = []
    for path, label in found_in(paths, is_wanted):
        entry = _entry(entries, path)
        stem, format_ = stem_and_format(path)
        if entry is not None:
            said = entry.said
            if said.format == "xlsx" and is_of_workbook(path):
                said = said._replace(format="csv")
            inputs.append(MappedFile(path, label, said, entry, mapping.name))
        elif format_ and stem in {ACCOUNTS.name, *TABLES_BY_NAME}:
            inputs.append(input_file(path, label))
        else:
            patterns = [entry.pattern for entry in entries]
            strange.append(
                f"{path}: matches no name in {mapping.name}, and is not that of a table; "
                f"{nearest(path.name, patterns)}"
            )
    if strange:
        raise BadInput("\n".join(strange))
    return inputs


def prepared(files: Sequence[Input], note: Callable[[str], None]) -> list[Input]:
    """Return the files with their detected settings, and call ``note`` with each detection.

    Raises BadInput with all problems of all headers, and of files that contradict their settings.
    """
    ready: list[Input] = []
    problems: list[str] = []
    for file in files:
        try:
            detected = complete(file.path, file.label, file.said)
            found = file._replace(said=detected.said)
            ready.append(found)
            if found.format != "ndjson":
                problems += found.header_problems(*header_of(file.path, file.label, detected.said))
        except BadInput as error:
            problems.append(str(error))
        else:
            if detected.sentence:
                note(f"{file.label}: {detected.sentence}")
    if problems:
        raise BadInput("\n".join(problems))
    return ready


def _entry(entries: Sequence[FileMapping], path: Path) -> FileMapping | None:
    """Return the first entry that matches a file's name, with or without its endings."""
    names = {path.name, unpacked_name(path), stem_and_format(path)[0]}
    return next((entry for entry in entries if entry.matches(names)), None)
