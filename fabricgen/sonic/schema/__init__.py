"""The schema of CONFIG_DB: a fast check of a whole config_db.json against what SONiC's YANG models say.

schemas/config_db.json holds the tables of SONiC's YANG models, one line per table. Not covered: the `must` rules that
`musts` and `musts_qos` do not name, and the `when` of five nodes that look at other rows (ACL_RULE PCP, DEI and
Ethernet addresses; DNS_OPTIONS; PBH_HASH_FIELD ip_mask). `fabricgen validate --yang` asks libyang for all of them.
"""

from fabricgen.sonic.schema.judge import Clean, check
from fabricgen.sonic.schema.tables import field_names, table_names
from fabricgen.sonic.schema.violations import Violation

__all__ = ["Clean", "Violation", "check", "field_names", "table_names"]
