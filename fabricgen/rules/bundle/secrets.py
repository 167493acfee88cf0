"""Rules on secrets: a bundle refers to them and does not contain them."""

from collections.abc import Iterator
from functools import partial

from fabricgen.engine.derived import kept
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.same import Same
from fabricgen.sonic.secrets import literals

CODE = "FG430"


def _literals(switch: Switch, clean: set[tuple[str, Same[object]]]) -> list[tuple[str, str, str]]:
    """The secrets of one file. `clean` are the tables, by name, of files without a secret."""
    config, has_forms = switch.device.config, switch.device.signs.secrets
    others = {name: rows for name, rows in config.items() if has_forms or (name, Same(rows)) not in clean}
    found = list(literals(others, has_forms=has_forms))
    if not found:
        clean.update((name, Same(rows)) for name, rows in others.items())
    return found


@rule(CODE, Severity.WARNING, "A file of the bundle contains a secret", Basis.SCHEMA)
def literal_secret(fabric: Fabric) -> Iterator[Defect]:
    """What: The config_db.json files of a bundle have placeholders such as `${secret:snmp/read}` in place of SNMP
    communities, passwords, their hashes, and private keys.

    Why: Bundles are kept in git and copied to pipelines and file servers. Each reader of one has the secret, and git
    keeps it after the file is corrected. With `validate --deploy` the finding is an error. The files of running
    switches contain their secrets, so only files beside fabric.json are judged.

    Example: TACPLUS|global has the passkey itself.

    Fix: Write `!secret NAME` in the inventory, or the placeholder in base files and templates. Render again, and change
    the secret, because others may have read it.

    Source: SONiC's YANG models of SNMP_USER, TACPLUS, RADIUS, LDAP, MACSEC_PROFILE, NTP_KEY and BGP_NEIGHBOR; crypt(5);
    RFC 7468.
    """
    if fabric.bundle.wiring is None:
        return
    clean: set[tuple[str, Same[object]]] = set()
    for of, switch in fabric.switches.items():
        for table, key, name in kept(partial(_literals, switch, clean), _literals, of, of=of):
            field = "" if name == "*" else name
            what = f"{field} contains a literal secret" if field else "the row key is a literal secret"
            hint = "refer to it with `!secret` in the inventory, render again, and change the secret"
            yield Defect(switch.place(table, key, field), what, hint)
