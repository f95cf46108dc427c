"""What an import may change in an account whose books are here, and what follows from it.

Both functions run in the transaction of the import, with the account locked. In the mode
``elsewhere``, files own all data (circulation, "Two modes of an account").
"""

from collections.abc import Callable

from masthead.store import Store, erasing, merging
from masthead.store.books import kept_records, ownership, plan_changes
from masthead.store.merging import Merged
from masthead.store.removing import Removal
from masthead.store.staging import Staging


def check(staging: Staging) -> int:
    """Find the staged rows that would change what operations own, or a reader of the books.

    Personal data of erased readers become blank first; returns the number of such rows. Raises
    BadInput for a table that no file may change.
    """
    ownership.check_import(staging)
    blank = erasing.blank_staged(staging)
    kept_records.check_kept(staging)
    return blank


def merge(
    store: Store, staging: Staging, tell: Callable[[str], None], removal: Removal | None
) -> Merged:
    """Write the checked rows as ``store.merging.merge`` does, and update what follows from them.

    A changed plan of issues moves the ends of subscriptions (rules, "Loads of the plan"). Raises
    BadInput if the lines of a bundle do not add up to its price, or if something refers to a row
    that would be removed.
    """
    plans = plan_changes.plans_of(staging.connection, staging.account_id)
    if plans:
        plan_changes.follow_moved_issues(staging)
    merged = merging.merge(staging, tell, removal)
    ownership.check_bundles(staging)
    if plans and merged.commit_id is not None:
        plan_changes.bring_up_to_date(
            store, staging.connection, staging.account_id, merged.commit_id, plans
        )
    return merged
