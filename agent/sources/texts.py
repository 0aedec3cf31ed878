"""Text from outside, made fit to be kept: bounded, and without what a database cannot store."""

import re

LONGEST = 500
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def fit_to_keep(text: str) -> str:
    """At most 500 characters of it, with a visible mark (U+FFFD) for each one no database holds."""
    kept = UNSTORABLE.sub("\ufffd", text[:LONGEST])
    return kept if len(text) <= LONGEST else f"{kept[:-1]}…"
