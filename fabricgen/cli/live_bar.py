"""A bar on the terminal for work that takes longer than two seconds; it is gone when the work ends."""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE_S = 2.0  # shorter work has no bar
_REFRESHES = 5  # a second
_LEAST_SHARE, _LEAST_S = (
    0.1,
    2.0,
)  # of the work and its time, before the time left is known, and the least that is shown
_AGREE = 1.25  # the times left by the whole and by the recent rate: if they differ by more, neither is shown


class LiveBar:
    """The share of work that is done and the time left; a moving bar and the time so far if the total is not known.

    The time left is shown if the work goes on at a steady rate, so that it is right within a factor of two.

    Use it as a context. A thread draws it, so it also moves while one long computation runs; without one, `reach` does.
    `total` is in the units of `reach`; 0 if it is not known.
    """

    def __init__(self, label: str, total: float = 0, *, has_thread: bool = True) -> None:
        self._label, self._total = label, total
        self._done, self._state = 0.0, ""
        self._reached: deque[tuple[float, float]] = deque()  # (time, done) of the second half of the time so far
        self._created = self._begun = time.monotonic()
        self._lock = threading.Lock()
        self._shown: Progress | None = None
        self._drawn = 0.0  # when `reach` drew it last
        self._timer = threading.Timer(PATIENCE_S, self._show) if has_thread else None

    def __enter__(self) -> "LiveBar":
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()  # it may be drawing for the first time
        with self._lock:
            if self._shown is not None:
                self._shown.stop()

    def reach(self, done: float, state: str = "") -> None:
        """Set how much is done, and a few words about the state."""
        self._done, self._state = done, state
        now = time.monotonic()
        self._remember(now)
        draws = self._timer is None and now - max(self._drawn, self._created + PATIENCE_S) >= 1 / _REFRESHES
        if draws and self._shown is None:
            self._show()
        with self._lock:
            if self._shown is not None:
                self._shown.update(self._shown.task_ids[0], refresh=draws, **self._task())
        if draws:
            self._drawn = now

    @contextmanager
    def counting(self, label: str, total: float) -> Iterator[None]:
        """A part of the work whose length is known."""
        before = (self._label, self._total, self._begun)
        self._label, self._total, self._begun = label, total, time.monotonic()
        self._reached.clear()
        yield
        self._label, self._total, self._begun = before
        self._reached.clear()
        self.reach(0)

    def _remember(self, now: float) -> None:
        """Keep what was done in the second half of the time so far, and the last value before it."""
        half = (self._begun + now) / 2
        while len(self._reached) > 1 and self._reached[1][0] <= half:
            self._reached.popleft()
        if not self._reached or now - self._reached[-1][0] >= 1 / _REFRESHES / 4:
            self._reached.append((now, self._done))

    def _left_s(self) -> float | None:
        """The seconds until the total is done; None before the rate is known, and while it changes."""
        now = time.monotonic()
        share, elapsed = self._done / self._total, now - self._begun
        if not self._reached or not _LEAST_SHARE <= share < 1 or elapsed < _LEAST_S:
            return None
        since, done = self._reached[0]
        recent = (self._done - done) / (now - since) if now > since else 0.0
        if recent <= 0:
            return None
        by_whole, by_recent = elapsed * (1 / share - 1), (self._total - self._done) / recent
        if not 1 / _AGREE <= by_whole / by_recent <= _AGREE:
            return None
        left = (by_whole * by_recent) ** 0.5
        return left if left >= _LEAST_S else None  # the last steps often have another rate

    def _show(self) -> None:
        from rich.console import Console  # most commands end before they need a bar
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), TextColumn("{task.fields[words]}"))
        console = Console(stderr=True)
        shown = Progress(
            TimeElapsedColumn(), *columns, console=console, transient=True, refresh_per_second=_REFRESHES,
            auto_refresh=self._timer is not None,
        )  # fmt: skip
        shown.add_task(**self._task())
        shown.tasks[0].start_time = self._created
        with self._lock:
            self._shown = shown
            shown.start()

    def _task(self) -> dict[str, Any]:
        return {
            "description": self._label,
            "total": self._total or None,
            "completed": self._done,
            "words": self._words(),
        }

    def _words(self) -> str:
        """'41 %, 12 s left, 3/8 flows'."""
        if not self._total:
            return self._state
        share = min(1.0, self._done / self._total)
        left_s = self._left_s()
        left = [] if left_s is None else [f"{left_s:.0f} s left"]
        return ", ".join(filter(None, [f"{share:.0%}", *left, self._state]))
