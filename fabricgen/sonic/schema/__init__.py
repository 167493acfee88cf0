"""The schema of CONFIG_DB: a fast check of a config_db.json against the content of SONiC's YANG models.

schemas/config_db.json contains the tables of SONiC's YANG models, one line per table. `must` conditions of the tables
that fabricgen renders are functions of `musts` and `musts_qos`; all others are XPath, in `conditions`.
"""

from fabricgen.sonic.schema.judge import Clean, check
from fabricgen.sonic.schema.tables import field_names, table_names
from fabricgen.sonic.schema.violations import Violation, ViolationKind

__all__ = ["Clean", "Violation", "ViolationKind", "check", "field_names", "table_names"]
