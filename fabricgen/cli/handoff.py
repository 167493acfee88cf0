"""`fabricgen handoff`: a bundle to the tools that deploy it."""

from pathlib import Path

import click

from fabricgen.bundle.read import open_bundle
from fabricgen.cli.settings import Settings, several, verb
from fabricgen.cli.streams import write

_bundle_to_folder = several(
    click.argument("bundle", type=click.Path(path_type=Path)),
    click.option(
        "--output", "-o", required=True, type=click.Path(path_type=Path, file_okay=False), help="Folder of the files."
    ),
)
_switches_to_folder = several(
    _bundle_to_folder,
    click.option("--only", metavar="GLOB", help="Only switches with such names; several with commas between."),
)


@click.group("handoff")
def command() -> None:
    """Hand a bundle to the tools that deploy it."""


@command.command("ansible")
@_switches_to_folder
@verb
def ansible(settings: Settings, bundle: Path, output: Path, only: str | None) -> int:
    """Write an Ansible project: inventory, host variables with digests, the files, playbooks and their role."""
    from fabricgen.handoff import write_folder
    from fabricgen.handoff.ansible import ansible_files

    count = write_folder(output, ansible_files(open_bundle([bundle]), only))
    write(f"{count} files in {output}. Next: ansible-playbook -i {output}/inventory.yml {output}/playbooks/check.yml")
    return 0


@command.command("ztp")
@_switches_to_folder
@click.option("--url", default="http://ztp", show_default=True, help="Where the folder is served to the switches.")
@click.option(
    "--by",
    type=click.Choice(["hostname", "serial"]),
    default="hostname",
    show_default=True,
    help="What a switch asks for its configuration by.",
)
@verb
def ztp(settings: Settings, bundle: Path, output: Path, only: str | None, url: str, by: str) -> int:
    """Write ztp.json, a first configuration for each switch, and the files of a DHCP server (Kea, dnsmasq)."""
    from fabricgen.handoff import write_folder
    from fabricgen.handoff.ztp import ztp_files

    files = dict(ztp_files(open_bundle([bundle]), only, url, by))
    count = write_folder(output, files.items())
    if unknown := files["dnsmasq.conf"].count(b"# dhcp-host"):
        settings.say(f"{unknown} switches without a MAC address: give `mac` under `devices` in the inventory")
    settings.say("Rows with secrets are left out: `handoff ansible` brings them.")
    write(f"{count} files in {output}. Next: serve it at {url}, and DHCP with kea-dhcp4.json or dnsmasq.conf")
    return 0


@command.command("containerlab")
@_switches_to_folder
@verb
def containerlab(settings: Settings, bundle: Path, output: Path, only: str | None) -> int:
    """Write a virtual lab: SONiC's virtual switches with translated ports, and their hosts, for containerlab."""
    from fabricgen.handoff import write_folder
    from fabricgen.handoff.containerlab import containerlab_files

    count = write_folder(output, containerlab_files(open_bundle([bundle]), only))
    write(f"{count} files in {output}. Next: containerlab deploy -t {output}/topology.clab.yml")
    return 0


@command.command("cabling")
@_switches_to_folder
@verb
def cabling(settings: Settings, bundle: Path, output: Path, only: str | None) -> int:
    """Write cabling sheets: a page to print for each rack, labels for both ends of each cable, and an order list."""
    from fabricgen.handoff import write_folder
    from fabricgen.handoff.cabling import cabling_files

    count = write_folder(output, cabling_files(open_bundle([bundle]), only))
    write(f"{count} files in {output}. Next: open {output}/index.html; once plugged, fabricgen diff {bundle} LLDP")
    return 0


@command.command("alerts")
@_switches_to_folder
@verb
def alerts(settings: Settings, bundle: Path, output: Path, only: str | None) -> int:
    """Write alerts: Prometheus rules with thresholds from the rendered files, and gnmic's subscription for them."""
    from fabricgen.handoff import write_folder
    from fabricgen.handoff.alerts import alerts_files

    files = dict(alerts_files(open_bundle([bundle]), only))
    count = write_folder(output, files.items())
    if files["blind.txt"]:
        settings.say(f"{output}/blind.txt names what no alert can see, and why")
    write(f"{count} files in {output}. Next: promtool check rules {output}/rules.yml; gnmic --config gnmic.yml sub")
    return 0


@command.command("kubernetes")
@_bundle_to_folder
@click.option("--only", metavar="GLOB", help="Only hosts with such names; several with commas between.")
@verb
def kubernetes(settings: Settings, bundle: Path, output: Path, only: str | None) -> int:
    """Write Kubernetes manifests: an SR-IOV policy, network and address pool for each NIC, and a pod that uses them."""
    from fabricgen.handoff import write_folder
    from fabricgen.handoff.kubernetes import GROUP_LABEL, kubernetes_files

    count = write_folder(output, kubernetes_files(open_bundle([bundle]), only))
    label = f"kubectl label node NODE {GROUP_LABEL}=GROUP"
    write(f"{count} files in {output}. Next: {label}; kubectl apply -R -f {output}")
    return 0
