"""How many facts there are: all that loading asks of the store."""

from __future__ import annotations

from collections.abc import Sequence

from memnb.errors import StoreMoved
from memnb.storage.database import Database, Row

__all__ = ["STORE_ID_QUERY", "count_facts", "require_ours"]

STORE_ID_QUERY = "SELECT value FROM meta WHERE key='store_id'"


def count_facts(database: Database, store_id: str) -> int:
    """The number of facts of the store of this id; 0 when nothing was ever written.

    Raises:
        StoreMoved: the database belongs to another project.
    """
    require_ours(database.unchecked_rows(STORE_ID_QUERY), store_id)
    rows = database.unchecked_rows("SELECT count(*) FROM revisions WHERE revision=1")
    return int(rows[0][0]) if rows else 0


def require_ours(rows: Sequence[Row], store_id: str) -> None:
    """Refuse a database whose noted store, if any, isn't `store_id`; raises StoreMoved."""
    if rows and rows[0][0] != store_id:
        raise StoreMoved(
            "the fact database belongs to another project than its folder; put the right one back."
            " Nothing was changed."
        )
