"""`drive.py FOLDER ROLE REQUEST.json`: the steps of the role's tasks, with the role's own code, on the switch itself.

For runs that are killed at a certain moment: the process is killed together with the command that it waits for.
"""

import json
import sys
from pathlib import Path

import ansible.module_utils

folder, role, request_file = map(Path, sys.argv[1:])
ansible.module_utils.__path__.append(str(role / "module_utils"))

from ansible.module_utils.fabricgen_sonic.deploy import transaction  # noqa: E402
from ansible.module_utils.fabricgen_sonic.deploy.disguise import Disguise  # noqa: E402
from ansible.module_utils.fabricgen_sonic.deploy.restore import Device  # noqa: E402

given = json.loads(request_file.read_text())
request = transaction.Request(disguise=Disguise(given["rendered"], [], []), **given)
device = Device(folder / "etc" / "fabricgen")
plan, refusal = transaction.prepare(device, request, check=False)
assert not refusal, refusal
if plan.differs:
    try:
        transaction.apply(device, set())
        if problems := transaction.deviations(device, set()):
            raise RuntimeError("; ".join(problems))
        transaction.save(device, set())
    except Exception:
        transaction.undo(device, set())
        raise
sys.stdout.write(plan.way.route)
