"""Reading the lists of erased subscribers that ``masthead export`` writes."""

from pathlib import Path

from masthead.contract.records import ERASURES
from masthead.errors import BadInput, BadUsage
from masthead.loading.checks import check_batch
from masthead.loading.files import find_files, read_batches
from masthead.store.erasing import Erasure


def read_erasures(account_id: int, path: Path) -> list[Erasure]:
    """Return the erasures of a file such as ``erasures.csv``.

    Raises BadUsage for a file of another table, BadInput for a missing file and an invalid row.
    """
    found = []
    for file in find_files([path]):
        if file.table is not ERASURES:
            raise BadUsage(f"{path}: a list of the erased is named erasures.csv or erasures.ndjson")
        for batch in read_batches(file):
            checked = check_batch(file.table, batch)
            if checked.problems:
                line, column, sentence = min(checked.problems)
                raise BadInput(f"{path}:{line}: {column}: {sentence}; nothing was restored")
            for row in checked.rows:
                values = dict(zip(("line", *checked.columns), row, strict=True))
                subscriber_id, erased_at = values["subscriber_id"], values.get("erased_at")
                assert isinstance(subscriber_id, int)
                assert not isinstance(erased_at, int)
                found.append(Erasure(account_id, subscriber_id, erased_at))
    return found
