"""The modules of the Ansible role: the package fabricgen.deploy and what it imports, as they are in this package.

The package keeps its structure below module_utils/fabricgen_sonic/, so relative imports work there. The modules in
library/ are programs that Ansible finds by their file names.
"""

from collections.abc import Iterator

from fabricgen.resources import package_files, package_text

ROLE = "roles/sonic_config"
PACKAGE = f"{ROLE}/module_utils/fabricgen_sonic"
# What fabricgen.deploy imports.
SHARED_MODULES = (
    "__init__.py",
    "diff/__init__.py", "diff/batches.py", "diff/buffermgrd.py", "diff/changes.py", "diff/patch.py", "diff/plan.py",
    "diff/price.py", "diff/sorting.py", "diff/split.py", "diff/step.py",
    "sonic/__init__.py", "sonic/canonical.py", "sonic/releases.py", "sonic/secrets.py", "sonic/statements.py",
    "sonic/switch_made.py", "sonic/tables.py", "sonic/updater/__init__.py", "sonic/updater/live.py",
    "sonic/updater/tables.py", "sonic/updater/unparsed.py", "sonic/updater/validators.py",
    "sonic/updater/verdicts.py", "sonic/yang_tables.py",
)  # fmt: skip


def role_modules() -> Iterator[tuple[str, bytes]]:
    """(path in the project, bytes) of the role's Python files."""
    for name in package_files("deploy/library"):
        yield f"{ROLE}/library/{name.rpartition('/')[2]}", package_text(name).encode()
    for name in (*SHARED_MODULES, *package_files("deploy")):
        yield f"{PACKAGE}/{name}", package_text(name).encode()
