"""`fabricgen explain`: the meaning of a code, or the origin of a rendered value."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabricgen.cli.names import names_in, names_of
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import width_of, write
from fabricgen.errors import UsageError
from fabricgen.findings import Location
from fabricgen.inputs import read_bytes
from fabricgen.visible import visible

if TYPE_CHECKING:
    from fabricgen.bundle.hosts import ObservedHosts
    from fabricgen.bundle.read import Bundle, ObservedDevice


@click.command("explain")
@click.argument("subject", required=False, metavar="CODE | BUNDLE", shell_complete=names_of("codes"))
@click.argument(
    "value", required=False, metavar="[DEVICE:TABLE|KEY|FIELD | PLANE:OPTION | hosts/GROUP:FILE|SETTING]",
    shell_complete=names_in("devices", ":"),
)  # fmt: skip
@click.option("--list", "show", is_flag=True, help="List all codes with their titles.")
@verb
def command(settings: Settings, subject: str | None, value: str | None, show: bool) -> int:
    """Explain the code of a finding, or the origin of a value of a bundle, step by step.

    \b
    Examples:
      fabricgen explain FG512
      fabricgen explain build 'compute-spine-00:CABLE_LENGTH|AZURE|Ethernet0'
      fabricgen explain build 'compute-spine-00:PFC_WD|Ethernet0|action'
      fabricgen explain subnets compute:routing_engine
      fabricgen explain build 'hosts/gpu:roce/compute.conf|PFC'
    """
    if show:
        from fabricgen.api.names import KINDS
        from fabricgen.cli.list_ import lines

        write("\n".join(lines(KINDS["codes"]())), wraps=True)
        return 0
    if subject is None:
        raise UsageError("name a code or a bundle; --list shows all codes")
    if value is None:
        write(_code_page(subject), wraps=True)
    else:
        write("\n".join(map(visible, _value_lines(Path(subject), value))), wraps=True)
    return 0


def _code_page(code: str) -> str:
    from fabricgen.report.pages import explained

    page = explained(code, width_of(sys.stdout) or 100)
    if page is None:
        if Path(code).exists():
            raise UsageError(f"{code} is a path: add a value, for example 'leaf1:PORT|Ethernet0|mtu'")
        raise UsageError(f"no finding has the code {code!r}; `fabricgen explain --list` shows all codes")
    return page


def _value_lines(folder: Path, value: str) -> list[str]:
    from fabricgen.bundle.read import open_bundle
    from fabricgen.bundle.sources import OPTION_FILES
    from fabricgen.report.explain import explain_computed_profile, explain_missing_size, explain_value
    from fabricgen.rules.guards import guards

    bundle = open_bundle([folder])
    name, separator, path = value.partition(":")
    device = bundle.devices.get(name)
    files = [file for each in OPTION_FILES if (file := folder / "infiniband" / name / each).is_file()]
    if separator and device is None and name and files:
        return _option_lines(bundle, files, name, path)
    hosts = bundle.hosts.get(name.removeprefix("hosts/"))
    if separator and device is None and hosts and name == hosts.name:
        return _setting_lines(bundle, hosts, path)
    if not separator or device is None:
        form = "DEVICE:TABLE|KEY|FIELD, PLANE:OPTION of an InfiniBand plane, or hosts/GROUP:FILE|SETTING"
        raise UsageError(f"{value!r} does not name a device of {folder}; the form is {form}")
    if lines := explain_missing_size(device, path):
        return lines
    table, key, field = _split(device, path)
    explanation = bundle.sources.explain(name, table, key, field) if bundle.sources else None
    origin = explain_value(device, (table, key, field), explanation, guards(bundle, name, table, key, field))
    return [*origin, *explain_computed_profile(device, table, key)]


def _option_lines(bundle: "Bundle", files: list[Path], subnet: str, option: str) -> list[str]:
    """The lines on an option of the files of a manager. `subnet` is PLANE or PLANE/SUBNET, with /standby-N or
    /mlnx-sm-5."""
    from fabricgen.report.explain import explain_option

    found: dict[str, tuple[Path, int, str]] = {}
    for file in files:
        lines = [line.partition("#")[0].split(None, 1) for line in read_bytes(file).decode().splitlines()]
        for number, words in enumerate(lines, 1):
            if len(words) == 2:
                found[words[0]] = (file, number, words[1].strip())
    if option not in found:
        raise UsageError(f"{files[0]} has no option {option!r}; it has {', '.join(found)}")
    file, line, text = found[option]
    explanation = bundle.sources.explain_option(subnet, option) if bundle.sources else None
    return list(explain_option(subnet, option, text, Location(str(file), line, 1), explanation))


def _setting_lines(bundle: "Bundle", hosts: "ObservedHosts", path: str) -> list[str]:
    """The lines on a setting of the files of hosts."""
    from fabricgen.report.explain import explain_option

    file, _, key = path.partition("|")
    text = hosts.value(file, key) if file in hosts.files else None
    if text is None:
        known = ", ".join(sorted(hosts.files)[:5])
        raise UsageError(f"{hosts.name} has no value {path!r}; the form is FILE|SETTING, with files such as {known}")
    explanation = bundle.sources.explain(hosts.name, file, key, "") if bundle.sources else None
    return list(explain_option(hosts.name, path, text, hosts.locate(file, key), explanation))


def _split(device: "ObservedDevice", path: str) -> tuple[str, str, str]:
    """Table, key and field of a path. Keys may contain '|', so the rows of the file decide."""
    from fabricgen.sonic.image import rows
    from fabricgen.sonic.secrets import shown_key

    table, _, rest = path.partition("|")
    for key, row in rows(device.config, table).items():
        field = rest.removeprefix(f"{key}|")
        if field != rest and field in row:
            return table, key, field
    key = max((key for key in device.table(table) if f"{rest}|".startswith(f"{key}|")), key=len, default="")
    fields = device.row(table, key)
    known = ", ".join(list(fields or dict.fromkeys(shown_key(table, key) for key in device.table(table)))[:5])
    inside = f"{table}|{shown_key(table, key)} has fields" if fields else f"{table} has rows"
    hint = f"{inside} such as {known}" if known else f"table {table!r} does not exist"
    raise UsageError(f"{device.name} has no value {path!r}: {hint}")
