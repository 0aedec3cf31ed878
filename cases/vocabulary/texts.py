"""What people type: bounded plain text, refused rather than cut."""

from cases.vocabulary.errors import InvalidInput

LONGEST_REASON = 2000


def plain_text(typed: str) -> str:
    """The text without blanks around it; raises `InvalidInput` when it is too long or not plain."""
    said = typed.strip()
    if len(said) > LONGEST_REASON or "\x00" in said:
        raise InvalidInput(f"A text is at most {LONGEST_REASON} characters of plain text.")
    return said


def reason_given(typed: str, *, missing: str) -> str:
    """Like `plain_text`, but something must have been said; `missing` is what to tell otherwise."""
    said = plain_text(typed)
    if not said:
        raise InvalidInput(missing)
    return said
