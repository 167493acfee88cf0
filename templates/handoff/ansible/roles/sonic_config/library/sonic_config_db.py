#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Bring a switch's CONFIG_DB to a rendered config_db.json, in steps that can be undone at any moment."""

from __future__ import annotations

import json
import sys

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: sonic_config_db
short_description: Bring CONFIG_DB to a rendered config_db.json
author: [fabricgen (@fabricgen)]
description:
  - The target is the running configuration with the rendered tables in place of its own. Tables that were rendered for
    this switch before and are no longer are removed; all others stay.
  - Step C(prepare) compares and, outside check mode, keeps what runs and sets a timer on the switch that puts it back;
    C(apply) loads the target; C(verify) fails when tables differ or BGP sessions did not come back; C(save) makes it
    the startup configuration and stops the timer; C(undo) puts back what ran before; C(compare) touches nothing.
  - Secrets are shown nowhere, neither those given nor those that the switch holds.
requirements: [Python 3.11 on the switch]
options:
  step: {description: What to do., type: str, required: true, choices: [compare, prepare, apply, verify, save, undo]}
  source:
    description: The rendered tables, or what ran before the last change.
    type: str
    default: rendered
    choices: [rendered, previous]
  rendered: {description: The rendered tables., type: dict, default: {}}
  secrets: {description: Values for the placeholders of secrets., type: dict, default: {}}
  route: {description: How to load the target., type: str, default: auto, choices: [auto, patch, reload]}
  shared_tables: {description: Tables that the image writes to as well., type: list, elements: str, default: []}
  secret_fields: {description: Fields not to show., type: list, elements: str, default: []}
  secret_tables: {description: Tables of which nothing is shown., type: list, elements: str, default: []}
  startup_file: {description: What the switch boots with., type: path, default: /etc/sonic/config_db.json}
  work_folder: {description: Where to keep files on the switch., type: path, default: /etc/sonic/fabricgen}
  checkpoint: {description: Name of the checkpoint., type: str, default: fabricgen}
  restore_after_s: {description: When the timer puts back what ran before., type: int, default: 900}
attributes:
  check_mode: {support: full}
  diff_mode: {support: full}
"""
EXAMPLES = r"""
- name: Compare
  sonic_config_db: {step: compare, rendered: "{{ lookup('file', 'config_db.json') | from_json }}"}
"""
RETURN = r"""
differs: {description: Whether there is anything to do., returned: compare and prepare, type: bool}
tables: {description: The tables that differ., returned: compare and prepare, type: list}
route: {description: How the target is or would be loaded., returned: compare and prepare, type: str}
way: {description: The route in words., returned: compare and prepare, type: str}
patch_seconds: {description: About how long a patch takes., returned: compare and prepare, type: int}
ports: {description: Ports that a patch takes down and up., returned: compare and prepare, type: list}
saved: {description: Whether the startup file holds the target., returned: compare and prepare, type: bool}
"""

STEPS = ("compare", "prepare", "apply", "verify", "save", "undo")


def compared(plan, differs, disguise):
    """What the module returns of a plan."""
    result = {
        "differs": differs,
        "tables": plan.tables,
        "route": plan.way.route,
        "way": plan.way.told,
        "patch_seconds": plan.way.seconds,
        "ports": plan.way.ports,
        "saved": plan.is_saved,
    }
    if plan.tables:
        sides = (
            {table: disguise.shown(table, side.get(table, {})) for table in plan.tables}
            for side in (plan.running, plan.target)
        )
        before, after = (json.dumps(side, indent=4, sort_keys=True) + "\n" for side in sides)
        result["diff"] = {
            "before": before,
            "after": after,
            "before_header": "running configuration",
            "after_header": f"to be, by {plan.way.told}",
        }
    return result


def take(step, device, order, check):
    """(changed, result, problem) of a step."""
    from ansible.module_utils.fabricgen_sonic import transaction

    if step in ("compare", "prepare"):
        plan, differs, problem = transaction.prepare(device, order, check or step == "compare")
        result = compared(plan, differs, order.disguise)
        if step == "compare" and plan.tables:
            problem = f"these tables are not as they were rendered: {', '.join(plan.tables)}"
        return check and differs, result, problem
    if check:
        return False, {}, None
    if step == "verify":
        return False, {}, "; ".join(transaction.deviations(device, order.disguise.seen))
    if step == "undo":
        return transaction.undo(device, order.disguise.seen), {}, None
    getattr(transaction, step)(device, order.disguise.seen)
    return True, {}, None


def main():
    """Run the module."""
    strings = {"type": "list", "elements": "str", "default": []}
    module = AnsibleModule(
        argument_spec={
            "step": {"type": "str", "required": True, "choices": list(STEPS)},
            "source": {"type": "str", "default": "rendered", "choices": ["rendered", "previous"]},
            "rendered": {"type": "dict", "default": {}},
            "secrets": {"type": "dict", "default": {}, "no_log": True},
            "route": {"type": "str", "default": "auto", "choices": ["auto", "patch", "reload"]},
            "shared_tables": strings,
            "secret_fields": {**strings, "no_log": False},
            "secret_tables": {**strings, "no_log": False},
            "startup_file": {"type": "path", "default": "/etc/sonic/config_db.json"},
            "work_folder": {"type": "path", "default": "/etc/sonic/fabricgen"},
            "checkpoint": {"type": "str", "default": "fabricgen"},
            "restore_after_s": {"type": "int", "default": 900},
        },
        supports_check_mode=True,
    )
    if sys.version_info < (3, 11):  # noqa: UP036 (of the switch)
        module.fail_json(msg="the switch needs Python 3.11: a SONiC image of 202311 or later")
    from ansible.module_utils.fabricgen_sonic.disguise import Disguise
    from ansible.module_utils.fabricgen_sonic.restore import Device, DeviceError
    from ansible.module_utils.fabricgen_sonic.transaction import Order

    params = module.params
    disguise = Disguise(params["rendered"], params["secret_tables"], params["secret_fields"])
    given = ("rendered", "secrets", "source", "route", "startup_file", "checkpoint", "restore_after_s")
    order = Order(disguise=disguise, shared=params["shared_tables"], **{name: params[name] for name in given})
    try:
        changed, result, problem = take(params["step"], Device(params["work_folder"]), order, module.check_mode)
    except DeviceError as error:
        changed, result, problem = False, {}, str(error)
    for text in (*disguise.seen, *map(str, params["secrets"].values())):
        module.no_log_values.update((text, json.dumps(text)[1:-1], repr(text)[1:-1]))
    if problem:
        module.fail_json(msg=problem, **result)
    module.exit_json(changed=changed, **result)


if __name__ == "__main__":
    main()
