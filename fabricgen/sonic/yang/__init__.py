"""Check a config_db.json with libyang and the YANG models of a SONiC image (extra `[yang]`).

`load_models` reads a folder of models once. `check` translates a file to YANG data as SONiC's own validation does,
validates the data with libyang, and returns each error with its table, key and field.
"""

from fabricgen.sonic.yang.check import check
from fabricgen.sonic.yang.models import Models, load_models

__all__ = ["Models", "check", "load_models"]
