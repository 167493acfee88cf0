"""Signals of a process that a test interrupts."""

import signal


def restore_interrupts() -> None:
    """Restore the default action of SIGINT before exec. Shells start background jobs with SIGINT ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
