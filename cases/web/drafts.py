"""What someone typed and has not sent: kept in their session until it counts."""

from django.http import HttpRequest

LONGEST_DRAFT = 4000


def _name(case_id: int) -> str:
    return f"draft-{case_id}"


def keep_draft(request: HttpRequest, *, case_id: int, reason: str) -> None:
    """Keep a typed reason; an empty one forgets."""
    if reason.strip():
        request.session[_name(case_id)] = reason[:LONGEST_DRAFT]
    else:
        forget_draft(request, case_id=case_id)


def draft_of(request: HttpRequest, *, case_id: int) -> str:
    """The kept reason, or empty text."""
    return str(request.session.get(_name(case_id), ""))


def forget_draft(request: HttpRequest, *, case_id: int) -> None:
    """The reason was counted, or emptied."""
    request.session.pop(_name(case_id), None)
