"""What a run that a test interrupts must be started with."""

import signal


def hears_interrupts() -> None:
    """Before exec: SIGINT as a terminal leaves it. Shells start what they put in the background deaf to it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
