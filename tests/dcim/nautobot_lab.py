"""The real Nautobot on Debian's PostgreSQL and Redis, with a database after its migrations.

Its database, sockets and port are of this process, so that several tests can run side by side.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.components import missing, tool
from tests.daemons import listens, until
from tests.shared_material import shared

ROOT = Path(__file__).parents[2]
DUMP = ("data", "nautobot", "nautobot-3.2.7.dump")
TOKEN = "0123456789abcdef" * 2 + "01234567"
_START_S = 300
_USER = "'11111111-1111-4111-8111-111111111111'"
_SQL = f"""
INSERT INTO auth_user (id, password, is_superuser, username, first_name, last_name, email, is_staff, is_active,
  date_joined, config_data) VALUES ({_USER}, '', true, 'lab', '', '', '', true, true, now(), '{{}}');
INSERT INTO users_token (id, created, key, write_enabled, description, user_id)
  VALUES ({_USER}, now(), '{TOKEN}', true, '', {_USER});
"""
# Without the log of changes, which takes half of the time of a request that writes. Each answer computes the natural
# keys of its objects, for which Nautobot otherwise reads its options from Redis, some twenty times for an object.
_SETTINGS = """
from nautobot.core.settings import *
DATABASES = {{"default": {{"ENGINE": "django.db.backends.postgresql", "NAME": "nautobot", "USER": "{user}",
    "HOST": "{folder}/postgres", "CONN_MAX_AGE": 300}}}}
CACHES = {{"default": {{"BACKEND": "django_redis.cache.RedisCache", "LOCATION": "unix://{folder}/redis.sock?db=1"}}}}
CELERY_BROKER_URL = "redis+socket://{folder}/redis.sock"
SECRET_KEY = "{secret}"
ALLOWED_HOSTS = ["127.0.0.1"]
INSTALLATION_METRICS_ENABLED = False
MIDDLEWARE = [each for each in MIDDLEWARE if not each.endswith("ObjectChangeMiddleware")]
CONSTANCE_BACKEND = "constance.backends.memory.MemoryBackend"
DEVICE_UNIQUENESS, LOCATION_NAME_AS_NATURAL_KEY = "name", True
"""


# Table -> columns that differ when an object is written again with the same values.
_TABLES = {
    "dcim_device": "", "dcim_interface": "_path_id", "dcim_cable": "", "ipam_prefix": "", "ipam_ipaddress": "",
    "ipam_ipaddresstointerface": "id", "dcim_cabletocabletermination": "id",
}  # fmt: skip


@dataclass(frozen=True)
class Nautobot:
    """A server that runs. `psql` is the command that reads its database."""

    url: str
    psql: tuple[str, ...]

    @property
    def environment(self) -> dict[str, str]:
        """What fabricgen reads."""
        return {"NAUTOBOT_URL": self.url, "NAUTOBOT_TOKEN": TOKEN}

    def column(self, query: str) -> list[str]:
        """The first column of a query, without the server's CPU time for an answer of its API."""
        return _run([*self.psql, "-At", "-c", query]).splitlines()

    def content(self, *, times: bool) -> dict[str, str]:
        """Table -> checksum of its rows; with `times` also of when each of them changed."""
        found = {}
        for table, volatile in _TABLES.items():
            left_out = [volatile] if times else [volatile, "created", "last_updated"]
            row = f"(to_jsonb(t) - '{{{','.join(filter(None, left_out))}}}'::text[])::text"
            (found[table],) = self.column(f"SELECT md5(string_agg({row}, ' ' ORDER BY {row})) FROM {table} t")
        return found


@contextmanager
def running_nautobot() -> Iterator[Nautobot]:
    """Start PostgreSQL, Redis and Nautobot. Skips where one of them is not installed; in CI that is a failure."""
    server = ROOT / ".venv-nautobot" / "bin" / "nautobot-server"
    if not server.exists():
        missing("Nautobot", "CI=true scripts/setup '[dev]'")
    dump = shared(*DUMP)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nautobot-")))
        folder.chmod(0o755)  # PostgreSQL runs as another user
        user, psql = _postgres(stack, folder, dump)
        _start(
            stack,
            [tool("redis-server", "redis-server"), "--port", "0", "--unixsocket", f"{folder}/redis.sock", "--save", ""],
        )
        until(lambda: listens(folder / "redis.sock"))
        settings = folder / "nautobot_config.py"
        settings.write_text(_SETTINGS.format(user=user, folder=folder, secret="s" * 50), encoding="utf-8")
        port = _free_port()
        environment = {**os.environ, "NAUTOBOT_CONFIG": str(settings), "NAUTOBOT_ROOT": str(folder), "PYTHONPATH": ""}
        command = [str(server), "runserver", f"127.0.0.1:{port}", "--noreload", "--insecure"]
        process = _start(stack, command, environment, folder / "server.log")
        found = Nautobot(f"http://127.0.0.1:{port}", psql)
        _wait(found.url, process, folder / "server.log")
        yield found


def _postgres(stack: ExitStack, folder: Path, dump: Path) -> tuple[str, tuple[str, ...]]:
    """Start PostgreSQL with the database; returns the name of its user, and the command of its client."""
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"), default=None, key=lambda path: int(path.parent.name))
    if programs is None:
        missing("PostgreSQL", "apt-get install postgresql")
    data = folder / "postgres"
    data.mkdir()
    user, other = "postgres", []
    if os.geteuid() == 0:
        shutil.chown(data, user, user)
        other = ["runuser", "-u", user, "--"]
    else:
        user = os.environ.get("USER", "postgres")
    _run([*other, str(programs / "initdb"), "-D", f"{data}/data", "-A", "trust", "-U", user, "--no-sync"])
    fast = "-F -c listen_addresses='' -c synchronous_commit=off -c full_page_writes=off"
    control = [*other, str(programs / "pg_ctl"), "-D", f"{data}/data", "-w"]
    _run([*control, "-l", f"{data}/log", "-o", f"{fast} -k {data}", "start"])
    stack.callback(_run, [*control, "-m", "immediate", "stop"])
    at = ["-h", str(data), "-U", user]
    _run([str(programs / "createdb"), *at, "nautobot"])
    _run([str(programs / "pg_restore"), *at, "--no-owner", "-d", "nautobot", str(dump)])
    psql = (str(programs / "psql"), *at, "-q", "-v", "ON_ERROR_STOP=1", "-d", "nautobot")
    _run([*psql, "-c", _SQL])
    return user, psql


def _run(command: list[str]) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


def _start(
    stack: ExitStack, command: list[str], environment: dict[str, str] | None = None, log: Path = Path(os.devnull)
) -> subprocess.Popen[bytes]:
    out = stack.enter_context(log.open("wb"))
    process = subprocess.Popen(command, env=environment, stdout=out, stderr=out, cwd="/")
    stack.callback(process.wait)
    stack.callback(process.terminate)
    return process


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(_START_S * 4):
        assert process.poll() is None, log.read_text(errors="replace")
        try:
            urllib.request.urlopen(f"{url}/api/").close()
        except urllib.error.HTTPError:
            return  # it answers that a token is missing
        except OSError:
            time.sleep(0.25)
        else:
            return
    raise AssertionError(log.read_text(errors="replace"))
