"""`fabricgen handoff`: a bundle to the tools that deploy it."""

from pathlib import Path

import click

from fabricgen.bundle.read import open_bundle
from fabricgen.cli.settings import Settings, verb


@click.group("handoff")
def command() -> None:
    """Hand a bundle to the tools that deploy it."""


@command.command("ansible")
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option(
    "--output", "-o", required=True, type=click.Path(path_type=Path, file_okay=False), help="Folder of the project."
)
@click.option("--only", metavar="GLOB", help="Only switches with such names.")
@verb
def ansible(settings: Settings, bundle: Path, output: Path, only: str | None) -> int:
    """Write an Ansible project: inventory, host variables with digests, the files, playbooks and their role."""
    from fabricgen.handoff import write_folder
    from fabricgen.handoff.ansible import ansible_files

    count = write_folder(output, ansible_files(open_bundle([bundle]), only))
    click.echo(
        f"{count} files in {output}. Next: ansible-playbook -i {output}/inventory.yml {output}/playbooks/check.yml"
    )
    return 0


@command.command("kubernetes")
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option(
    "--output", "-o", required=True, type=click.Path(path_type=Path, file_okay=False), help="Folder of the manifests."
)
@click.option("--only", metavar="GLOB", help="Only hosts with such names.")
@verb
def kubernetes(settings: Settings, bundle: Path, output: Path, only: str | None) -> int:
    """Write Kubernetes manifests: an SR-IOV policy, network and address pool for each NIC, and a pod that uses them."""
    from fabricgen.handoff import write_folder
    from fabricgen.handoff.kubernetes import GROUP_LABEL, kubernetes_files

    count = write_folder(output, kubernetes_files(open_bundle([bundle]), only))
    label = f"kubectl label node NODE {GROUP_LABEL}=GROUP"
    click.echo(f"{count} files in {output}. Next: {label}; kubectl apply -R -f {output}")
    return 0
