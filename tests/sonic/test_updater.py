"""Facts of the updater that repeat others."""

from fabricgen.sonic.schema import table_names
from fabricgen.sonic.yang_tables import YANG_TABLES


def test_the_updater_knows_the_tables_of_the_schema() -> None:
    assert table_names() == YANG_TABLES
