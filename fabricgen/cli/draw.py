"""`fabricgen draw`: pictures of a bundle."""

from pathlib import Path

import click

from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import write
from fabricgen.errors import UsageError


@click.command("draw")
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option(
    "--output", "-o", required=True, type=click.Path(path_type=Path, dir_okay=False),
    help="File to write: .svg, .drawio (for draw.io) or .dot (for Graphviz). Several planes are one file each.",
)  # fmt: skip
@click.option("--plane", help="Draw only this plane.")
@click.option(
    "--device", metavar="NAME",
    help="Draw the front panel of this switch, with speeds, far ends, port channels and VLANs.",
)  # fmt: skip
@click.option("--rack", metavar="NAME", help="Draw this rack.")
@click.option("--cable", metavar="ID", help="Draw this cable with both ends; cabling.csv lists all.")
@click.option(
    "--against", metavar="BUNDLE", type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Show the change from this bundle in colour: new, changed and removed switches and links.",
)  # fmt: skip
@verb
def command(
    settings: Settings,
    bundle: Path,
    output: Path,
    plane: str | None,
    device: str | None,
    rack: str | None,
    cable: str | None,
    against: Path | None,
) -> int:
    """Draw the planes of BUNDLE, a switch, a rack or a cable.

    A plane of more than 500 switches is drawn as pods with counts. With --against, only planes with a change are drawn.

    \b
    Examples:
      fabricgen draw build --output fabric.svg
      fabricgen draw build --device compute-su00-r0-leaf --output leaf.svg
      fabricgen draw build --output fabric.drawio
      fabricgen draw build-next --against build --output change.svg
    """
    from fabricgen.atomic import write_atomically
    from fabricgen.bundle.read import open_bundle
    from fabricgen.draw.equipment import cable_scene, panel_scene, rack_scene
    from fabricgen.draw.picture import WRITERS, change_scenes, fabric_scenes

    given = [
        name
        for name, value in (("--plane", plane), ("--device", device), ("--rack", rack), ("--cable", cable))
        if value
    ]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)}: choose one of them")
    if against and (device or rack or cable):
        raise UsageError("--against is for planes: leave out --device, --rack and --cable")
    if output.suffix not in WRITERS:
        raise UsageError(f"{output}: the name must end with {', '.join(WRITERS)}")
    opened = open_bundle([bundle])
    if device:
        scenes = {"": panel_scene(opened, device)}
    elif rack:
        scenes = {"": rack_scene(opened, rack)}
    elif cable:
        scenes = {"": cable_scene(opened, cable)}
    elif against:
        from fabricgen.api.against import compare_with

        found = compare_with(against, bundle, opened)
        changed = [device.name for device in found.difference.changed]
        scenes = change_scenes(opened, open_bundle([against]), changed, found.cables, plane)
        if not scenes:
            write("no switch and no cable changes: no picture is written")
    else:
        scenes = fabric_scenes(opened, plane)
    for name, scene in scenes.items():
        file = output if len(scenes) == 1 else output.with_stem(f"{output.stem}-{name}")
        write_atomically(file, WRITERS[output.suffix](scene).encode())
        write(f"{file}: {scene.caption}", wraps=True)
    return 0
