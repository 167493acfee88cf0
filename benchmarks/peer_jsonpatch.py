"""The peer of `diff`: jsonpatch's make_patch on each pair of files, read with the same JSON parser.

    python -m benchmarks.peer_jsonpatch OLD NEW

Prints the number of devices that differ and the number of operations in their patches.
"""

import sys
from pathlib import Path

import jsonpatch
import orjson


def main() -> None:
    """Compare two bundles."""
    old, new = map(Path, sys.argv[1:3])
    patches = []
    for file in sorted(old.glob("sonic/*/config_db.json")):
        before, after = file.read_bytes(), (new / file.relative_to(old)).read_bytes()
        if before != after:
            patches.append(jsonpatch.make_patch(orjson.loads(before), orjson.loads(after)))
    print(f"{len(patches)} devices differ, {sum(len(patch.patch) for patch in patches)} operations")


if __name__ == "__main__":
    main()
