"""Tuning: the marking thresholds, alpha and queue pairs with which a pattern runs best, by packet runs.

`files`: the setting of the files, and the files with another setting; `allowed`: what the rules say about it; `space`:
the settings to try; `measure`: one run; `race`: which settings get more draws; `confirm`: the best one on other draws.
"""
