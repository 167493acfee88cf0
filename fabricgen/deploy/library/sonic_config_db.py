#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Bring CONFIG_DB of a switch to a rendered config_db.json, in steps that can be undone at any moment."""

from __future__ import annotations

import sys

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: sonic_config_db
short_description: Bring CONFIG_DB to a rendered config_db.json
author: [fabricgen (@fabricgen)]
description:
  - The target is the running configuration with the rendered tables. Tables that were rendered for this switch
    before and are no longer rendered are removed. All other tables stay.
  - Step C(compare) fails when tables differ and changes nothing. Step C(prepare) compares and, outside check mode,
    keeps the running configuration and sets a timer on the switch that restores it. Step C(apply) loads the target.
    Step C(verify) fails when tables differ or BGP sessions are not established again. Step C(save) makes the target
    the startup configuration and stops the timer. Step C(undo) restores the previous configuration.
  - The output contains no secret, neither a given one nor one of the switch.
requirements: [Python 3.11 on the switch]
options:
  step: {description: What to do., type: str, required: true, choices: [compare, prepare, apply, verify, save, undo]}
  source:
    description: The rendered tables, or the configuration before the last change.
    type: str
    default: rendered
    choices: [rendered, previous]
  rendered: {description: The rendered tables., type: dict, default: {}}
  secrets: {description: Values for the placeholders of secrets., type: dict, default: {}}
  route: {description: How to load the target., type: str, default: auto, choices: [auto, patch, reload]}
  shared_tables: {description: Tables that the image also writes., type: list, elements: str, default: []}
  secret_fields: {description: Fields whose values are hidden., type: list, elements: str, default: []}
  secret_tables: {description: Tables that are hidden., type: list, elements: str, default: []}
  startup_file: {description: The startup configuration of the switch., type: path, default: /etc/sonic/config_db.json}
  work_folder: {description: Folder for files on the switch., type: path, default: /etc/sonic/fabricgen}
  checkpoint: {description: Name of the checkpoint., type: str, default: fabricgen}
  restore_after_s:
    description: Seconds after which the timer restores the previous configuration.
    type: int
    default: 900
  frr_conf: {description: The rendered frr.conf of a VTEP., type: str, default: ""}
  frr_file: {description: The file that FRR of a VTEP reads., type: path, default: /etc/sonic/frr/frr.conf}
  settle_s:
    description: Seconds that BGP sessions may take between two batches of ports before the change is undone.
    type: int
    default: 180
attributes:
  check_mode: {support: full}
  diff_mode: {support: full}
"""
EXAMPLES = r"""
- name: Compare
  sonic_config_db: {step: compare, rendered: "{{ lookup('file', 'config_db.json') | from_json }}"}
"""
RETURN = r"""
differs: {description: Whether the switch differs from the target., returned: compare and prepare, type: bool}
tables: {description: The tables that differ., returned: compare and prepare, type: list}
frr_conf: {description: Whether frr.conf differs., returned: compare and prepare, type: bool}
route: {description: How the target is loaded., returned: compare and prepare, type: str}
way: {description: The route in words., returned: compare and prepare, type: str}
patch_seconds: {description: The longest duration of a patch., returned: compare and prepare, type: int}
ports: {description: Ports that a patch takes down and up., returned: compare and prepare, type: list}
saved: {description: Whether the startup file has the target., returned: compare and prepare, type: bool}
"""


def main() -> None:
    """Run the module."""
    strings = {"type": "list", "elements": "str", "default": []}
    steps = ["compare", "prepare", "apply", "verify", "save", "undo"]
    module = AnsibleModule(
        argument_spec={
            "step": {"type": "str", "required": True, "choices": steps},
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
            "settle_s": {"type": "int", "default": 180},
            "frr_conf": {"type": "str", "default": ""},
            "frr_file": {"type": "path", "default": "/etc/sonic/frr/frr.conf"},
        },
        supports_check_mode=True,
    )
    if sys.version_info < (3, 11):  # noqa: UP036 (of the switch)
        module.fail_json(msg="the switch needs Python 3.11: a SONiC image of 202311 or later")
    from ansible.module_utils.fabricgen_sonic.deploy.steps import take

    outcome = take(module.params, check=module.check_mode)
    module.no_log_values.update(outcome.hidden)
    if outcome.problem:
        module.fail_json(msg=outcome.problem, **outcome.result)
    module.exit_json(changed=outcome.changed, **outcome.result)


if __name__ == "__main__":
    main()
