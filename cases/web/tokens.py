"""What a page showed, signed into its forms, so that an answer says what it was given on."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.core import signing

from cases.vocabulary.clocks import instant_from, iso
from cases.vocabulary.errors import InvalidInput


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What was shown to a person (label to value), and the business instant at which."""

    at: datetime
    seen: Mapping[str, str]


def token_for(*, what: str, person_id: int, at: datetime, seen: Mapping[str, str]) -> str:
    """A token for the form about `what`, such as `row 318`, shown to that person."""
    value = {"at": iso(at), "seen": dict(seen)}
    return signing.dumps(value, salt=_salt(what, person_id), compress=True)


def shown_by(token: str, *, what: str, person_id: int) -> Shown:
    """Read it; raises `InvalidInput` for one that is not ours, this form's and this person's."""
    try:
        value = signing.loads(token, salt=_salt(what, person_id))
    except signing.BadSignature as error:
        raise InvalidInput("This form is not one of ours. Reload the page.") from error
    return Shown(at=instant_from(value["at"]), seen=value["seen"])


def _salt(what: str, person_id: int) -> str:
    return f"watchbill.shown.{what}.{person_id}"
