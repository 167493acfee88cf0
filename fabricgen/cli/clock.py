"""Lines that tell what was done and how long it took."""

import time

from fabricgen.cli.settings import Settings


class Clock:
    """Runs from its creation; every lap prints a line on standard error."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._since = settings, time.perf_counter()

    def lap(self, what: str, text: str) -> None:
        """Tell that `what` is done, and the time since the lap before."""
        now = time.perf_counter()
        self._settings.say(f"{what:<10}{text:<80}{now - self._since:7.2f} s")
        self._since = now
