"""Rules on maps, PFC, ECN, scheduling and the PFC watchdog."""
