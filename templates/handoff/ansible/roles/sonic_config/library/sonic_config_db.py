#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Bring a switch's CONFIG_DB to a rendered config_db.json, in steps that a play can undo."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: sonic_config_db
short_description: Bring CONFIG_DB to a rendered config_db.json
author: [fabricgen (@fabricgen)]
description:
  - The target is the running configuration with the rendered tables in place of its own. Tables that were rendered for
    this switch before and are no longer are removed; all others stay.
  - Step C(prepare) compares and, outside check mode, writes C(before.json) and C(target.json) and takes the checkpoint;
    C(apply) loads the target; C(verify) fails when tables differ; C(save) makes it the startup configuration;
    C(rollback) goes back to C(before.json).
  - Secrets are shown nowhere, neither those given nor those that the switch holds.
options:
  step: {description: What to do., type: str, required: true, choices: [prepare, apply, verify, save, rollback]}
  rendered: {description: The rendered tables., type: dict, required: true}
  secrets: {description: Values for the placeholders of secrets., type: dict, default: {}}
  route: {description: How to load the target., type: str, default: auto, choices: [auto, replace, reload]}
  fields_in_place: {description: Fields that C(config replace) can change of some tables., type: dict, default: {}}
  shared_tables: {description: Tables that the image writes to as well., type: list, elements: str, default: []}
  secret_fields: {description: Fields not to show., type: list, elements: str, default: []}
  secret_tables: {description: Tables of which nothing is shown., type: list, elements: str, default: []}
  startup_file: {description: What the switch boots with., type: path, default: /etc/sonic/config_db.json}
  work_folder: {description: Where to keep files on the switch., type: path, default: /etc/sonic/fabricgen}
  checkpoint: {description: Name of the checkpoint., type: str, default: fabricgen}
attributes:
  check_mode: {support: full}
  diff_mode: {support: full}
"""
EXAMPLES = r"""
- name: Verify
  sonic_config_db: {step: verify, rendered: "{{ lookup('file', 'config_db.json') | from_json }}"}
"""
RETURN = r"""
tables: {description: The tables that differ., returned: prepare and verify, type: list}
route: {description: How the target is or would be loaded., returned: prepare and verify, type: str}
reload_reasons: {description: What C(config replace) cannot do., returned: prepare and verify, type: list}
saved: {description: Whether the startup file holds the rendered tables., returned: prepare and verify, type: bool}
"""

PLACEHOLDER = re.compile(r"\$\{secret:([^}]+)\}")
HIDDEN = "(not shown)"


class Disguise:
    """Shows configuration without secrets: a given one by its placeholder, one of the switch's own not at all."""

    def __init__(self, rendered, secret_tables, secret_fields):
        self.secret_fields = set(secret_fields)
        self.secret_tables = set(secret_tables) | {
            table for table, rows in rendered.items() if any(PLACEHOLDER.search(key) for key in rows)
        }
        self.secret_places = {
            (table, field)
            for table, rows in rendered.items()
            for row in rows.values()
            for field, value in row.items()
            if PLACEHOLDER.search(json.dumps(value))
        }
        self.placeholders = {}

    def filled(self, text, secrets):
        """A text with its placeholders filled in. Raises KeyError with the name of a secret that is not given."""
        whole = PLACEHOLDER.sub(lambda match: str(secrets[match[1]]), text)
        if whole != text:
            self.placeholders[whole] = text
        return whole

    def shown(self, table, rows):
        """A table as it may be shown."""
        found = {}
        for key, row in sorted(rows.items()):
            name = self._shown(key) if table in self.secret_tables else key
            found[f"{name} {len(found) + 1}" if name == HIDDEN else name] = {
                field: self._shown(value) if self._is_secret(table, field) else value for field, value in row.items()
            }
        return found

    def own_secrets(self, config):
        """The secrets that a configuration holds. Texts of up to 3 letters are words such as RO, never secrets."""
        texts = {key for table in self.secret_tables for key in config.get(table, {})}
        for table, rows in config.items():
            for row in rows.values():
                texts.update(str(value) for field, value in row.items() if self._is_secret(table, field))
        return {text for text in texts if len(text) > 3}

    def _is_secret(self, table, field):
        return (
            table in self.secret_tables or field.lower() in self.secret_fields or (table, field) in self.secret_places
        )

    def _shown(self, value):
        if isinstance(value, list):
            return [self._shown(item) for item in value]
        return self.placeholders.get(value, HIDDEN)


def fill(value, secrets, disguise):
    """A part of the rendered file with the secrets in their places."""
    if isinstance(value, dict):
        return {disguise.filled(key, secrets): fill(item, secrets, disguise) for key, item in value.items()}
    if isinstance(value, list):
        return [fill(item, secrets, disguise) for item in value]
    return disguise.filled(value, secrets) if isinstance(value, str) else value


def laid_over(rows, wanted):
    """Rows with the wanted fields laid over them."""
    merged = {key: dict(row) for key, row in rows.items()}
    for key, row in wanted.items():
        merged[key] = {**merged.get(key, {}), **row}
    return merged


def aim(running, wanted, shared, formerly_owned):
    """The whole configuration that the switch is to have. Redis holds no empty table, so neither does it."""
    leaving = set(formerly_owned) - set(shared) - set(wanted)
    target = {table: rows for table, rows in running.items() if table not in leaving}
    for table, rows in wanted.items():
        target[table] = laid_over(running.get(table, {}), rows) if table in shared else rows
    return {table: rows for table, rows in target.items() if rows}


def differing(one, other):
    """The tables that differ."""
    return sorted(table for table in one.keys() | other.keys() if one.get(table, {}) != other.get(table, {}))


def reload_reasons(running, target, fields_in_place):
    """What `config replace` refuses, or would do by taking ports and sessions apart."""
    found = []
    for table, in_place in sorted(fields_in_place.items()):
        before, after = running.get(table, {}), target.get(table, {})
        if before.keys() != after.keys():
            found.append(f"{table}: rows come or go")
            continue
        changed = {
            field
            for key, row in before.items()
            for field in row.keys() | after[key].keys()
            if row.get(field) != after[key].get(field)
        }
        if changed - set(in_place):
            found.append(f"{table}: {', '.join(sorted(changed - set(in_place)))}")
    return found


def chosen_route(wish, reasons):
    """replace or reload."""
    return wish if wish != "auto" else "reload" if reasons else "replace"


class Switch:
    """The switch, through its own commands and a folder of files that root alone can read."""

    def __init__(self, module, disguise):
        self.module = module
        self.disguise = disguise
        self.folder = Path(module.params["work_folder"])
        self.before_file = self.folder / "before.json"
        self.target_file = self.folder / "target.json"
        self.owned_file = self.folder / "owned_tables.json"
        self.checkpoint = module.params["checkpoint"]
        self.hide(str(secret) for secret in module.params["secrets"].values())

    def run(self, *command):
        """Run a command; the module fails with what it said when it fails."""
        code, out, err = self.module.run_command(list(command))
        if code:
            said = (err.strip() or out.strip()).splitlines()[-20:]
            self.module.fail_json(msg=f"`{' '.join(command)}` ended with {code}: " + "\n".join(said), rc=code)
        return out

    def running(self):
        """The tables of CONFIG_DB. What is secret in them is kept out of all that the module returns from here on."""
        config = json.loads(self.run("sonic-cfggen", "-d", "--print-data"))
        self.hide(self.disguise.own_secrets(config))
        return config

    def hide(self, secrets):
        """Keep secrets out of all that the module returns, also as a command's message may quote them."""
        for text in secrets:
            self.module.no_log_values.update((text, json.dumps(text)[1:-1], repr(text)[1:-1]))

    def read(self, file, missing):
        """A JSON file, or `missing` when there is none."""
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else missing

    def write(self, file, value):
        """Put a file in place whole."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, staged = tempfile.mkstemp(dir=str(self.folder))  # mode 0600
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(value, stream, indent=4)
            stream.flush()
            os.fsync(stream.fileno())
        Path(staged).replace(file)

    def drop_checkpoint(self):
        """Remove what only a rollback needs."""
        if self.checkpoint in json.loads(self.run("config", "list-checkpoints")):
            self.run("config", "delete-checkpoint", self.checkpoint)
        self.target_file.unlink(missing_ok=True)


def plan(module, switch):
    """(running, target, result): what is, what is to be, and what tells the difference."""
    params, disguise = module.params, switch.disguise
    try:
        wanted = fill(params["rendered"], params["secrets"], disguise)
    except KeyError as error:
        module.fail_json(msg=f"no value for secret {error.args[0]}")
    owned = switch.read(switch.owned_file, [])
    running = switch.running()
    target = aim(running, wanted, params["shared_tables"], owned)
    startup = switch.read(Path(params["startup_file"]), {})
    tables = differing(running, target)
    reasons = reload_reasons(running, target, params["fields_in_place"])
    route = chosen_route(params["route"], reasons)
    sides = [{table: disguise.shown(table, side.get(table, {})) for table in tables} for side in (running, target)]
    before, after = (json.dumps(side, indent=4, sort_keys=True) + "\n" for side in sides)
    result = {
        "tables": tables,
        "route": route if tables else "none",
        "reload_reasons": reasons,
        "saved": not differing(startup, aim(startup, wanted, params["shared_tables"], owned)),
        "diff": {
            "before": before,
            "after": after,
            "before_header": "running configuration",
            "after_header": f"rendered configuration, by config {route}",
        },
    }
    if not tables:
        del result["diff"]
    if params["route"] == "replace" and reasons:
        module.fail_json(msg="`config replace` cannot do this, nothing was touched: " + "; ".join(reasons), **result)
    return running, target, result


def prepare(module, switch):
    """Compare; outside check mode, lay ready what the other steps need."""
    running, target, result = plan(module, switch)
    differs = bool(result["tables"]) or not result["saved"]
    if differs and not module.check_mode:
        switch.write(switch.before_file, running)
        switch.write(switch.target_file, target)
        if result["route"] == "replace":
            switch.run("config", "checkpoint", switch.checkpoint)
    module.exit_json(changed=module.check_mode and differs, **result)


def verify(module, switch):
    """Fail while the running configuration is not the target."""
    _, _, result = plan(module, switch)
    if result["tables"]:
        module.fail_json(msg=f"these tables still differ: {', '.join(result['tables'])}", **result)
    module.exit_json(changed=False, **result)


def apply(module, switch):
    """Load target.json. A reload names the file, so that a power cut leaves the old startup configuration."""
    _, _, result = plan(module, switch)
    if result["route"] == "reload":
        switch.run("config", "reload", "-y", str(switch.target_file))
    elif result["route"] == "replace":
        switch.run("config", "replace", str(switch.target_file))
    module.exit_json(changed=True)


def save(module, switch):
    """Make the running configuration the startup configuration, and note which tables are ours."""
    switch.run("config", "save", "-y")
    switch.write(switch.owned_file, sorted(module.params["rendered"]))
    switch.drop_checkpoint()
    module.exit_json(changed=True)


def rollback(module, switch):
    """Back to before.json the way the change came; the module fails when the switch does not arrive there."""
    before, target = switch.read(switch.before_file, {}), switch.read(switch.target_file, {})
    reasons = reload_reasons(before, target, module.params["fields_in_place"])
    changed = bool(differing(switch.running(), before))
    if changed and chosen_route(module.params["route"], reasons) == "reload":
        switch.run("config", "reload", "-y", "-f", str(switch.before_file))
    elif changed:
        switch.run("config", "rollback", switch.checkpoint)
    if tables := differing(switch.running(), before):
        names = ", ".join(tables)
        remedy = (
            f"`config reload -y -f {switch.before_file}` brings the old configuration back; traffic stops meanwhile"
        )
        module.fail_json(msg=f"after the rollback {names} differ from what ran before. {remedy}")
    switch.drop_checkpoint()
    module.exit_json(changed=changed)


def main():
    """Run the module."""
    strings = {"type": "list", "elements": "str", "default": []}
    steps = {step.__name__: step for step in (prepare, apply, verify, save, rollback)}
    module = AnsibleModule(
        argument_spec={
            "step": {"type": "str", "required": True, "choices": list(steps)},
            "rendered": {"type": "dict", "required": True},
            "secrets": {"type": "dict", "default": {}, "no_log": True},
            "route": {"type": "str", "default": "auto", "choices": ["auto", "replace", "reload"]},
            "fields_in_place": {"type": "dict", "default": {}},
            "shared_tables": strings,
            "secret_fields": {**strings, "no_log": False},
            "secret_tables": {**strings, "no_log": False},
            "startup_file": {"type": "path", "default": "/etc/sonic/config_db.json"},
            "work_folder": {"type": "path", "default": "/etc/sonic/fabricgen"},
            "checkpoint": {"type": "str", "default": "fabricgen"},
        },
        supports_check_mode=True,
    )
    params = module.params
    disguise = Disguise(params["rendered"], params["secret_tables"], params["secret_fields"])
    steps[params["step"]](module, Switch(module, disguise))


if __name__ == "__main__":
    main()
