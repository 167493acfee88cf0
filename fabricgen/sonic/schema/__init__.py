"""The schema of CONFIG_DB: a fast check of a config_db.json against the content of SONiC's YANG models.

schemas/config_db.json contains the tables of SONiC's YANG models, one line per table. Not covered: the `must` rules
that `musts` and `musts_qos` do not name, and the `when` conditions of five nodes on other rows (ACL_RULE PCP, DEI and
Ethernet addresses; DNS_OPTIONS; PBH_HASH_FIELD ip_mask). `fabricgen validate --yang` checks all of them with libyang.
"""

from fabricgen.sonic.schema.judge import Clean, check
from fabricgen.sonic.schema.tables import field_names, table_names
from fabricgen.sonic.schema.violations import Kind, Violation

__all__ = ["Clean", "Kind", "Violation", "check", "field_names", "table_names"]
