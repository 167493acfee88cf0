"""Ask libyang whether a config_db.json fits the YANG models of a SONiC image (extra `[yang]`).

`load_models` reads a folder of models once; `check` translates a file to YANG data as SONiC's own validation does,
lets libyang judge it, and brings each complaint back to its table, key and field.
"""

from fabricgen.sonic.yang.check import check
from fabricgen.sonic.yang.models import Models, load_models

__all__ = ["Models", "check", "load_models"]
