"""Import of files of accounts."""

from collections.abc import Sequence
from itertools import repeat

from masthead.contract.records import ACCOUNTS
from masthead.errors import BadInput
from masthead.loading.checks import check_batch
from masthead.loading.files import InputFile, read_batches
from masthead.loading.problems import PROBLEMS_SHOWN_MAX, listed
from masthead.store import Store, accounts, audit
from masthead.store.merging import Counts
from masthead.store.staging import NUMBERS_PER_FILE, Problem, column_names, mask_of


def load_accounts(
    store: Store, files: Sequence[InputFile], by: audit.Actor | None, *, allow_truncated: bool
) -> dict[str, Counts]:
    """Import accounts, all or none; return the counts by table.

    An empty api_key or api_login changes nothing, because the interface shows them empty while the
    API is off. A new account without them gets random ones. Raises BadInput with the problems.
    """
    problems: list[Problem] = []
    rows: list[accounts.Values] = []
    seen: dict[object, str] = {}
    for number, file in enumerate(files):
        for batch in read_batches(file, allow_truncated=allow_truncated):
            checked = check_batch(file.table, batch)
            problems += [
                Problem(number * NUMBERS_PER_FILE, *problem) for problem in checked.problems
            ]
            every = mask_of(ACCOUNTS, checked.columns)
            masks = checked.masks or repeat(every, len(checked.rows))
            for mask, (line, *values) in zip(masks, checked.rows, strict=True):
                assert isinstance(line, int)
                known = column_names(ACCOUNTS, mask)
                named = zip(checked.columns, values, strict=True)
                row = {name: value for name, value in named if name in known}
                place = f"{file.label}:{line}"
                first = seen.setdefault(row["account_id"], place)
                if first != place:
                    sentence = f"{row['account_id']} is in {first} too"
                    problems.append(
                        Problem(number * NUMBERS_PER_FILE, line, "account_id", sentence)
                    )
                keys = ("api_key", "api_login")
                rows.append({k: v for k, v in row.items() if v is not None or k not in keys})
    if problems:
        shown = sorted(problems)[:PROBLEMS_SHOWN_MAX]
        raise BadInput(listed(files, shown, len(problems), "correct the rows"))
    return {ACCOUNTS.name: Counts(*accounts.save_accounts(store, rows, by=by))}
