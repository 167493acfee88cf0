"""The bundle as rules see it: what several rules share, each derived once."""
