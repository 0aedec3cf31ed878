"""Forms check what was posted and hand it on as plain values; they decide nothing."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms

from cases.actions.decisions import Answer
from cases.models import Decision, Desk, Goal, RowAnswer
from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.shifts import WallTime

LONGEST_READ_BACK = 200


class PostedForm(forms.Form):
    """A form whose mistakes are raised as one sentence."""

    def values(self) -> dict[str, Any]:
        """The cleaned values; raises `InvalidInput` naming the first mistake."""
        if self.is_valid():
            return self.cleaned_data
        name, mistakes = next(iter(self.errors.items()))
        where = name.replace("_", " ").capitalize() if name in self.fields else "The form"
        raise InvalidInput(f"{where}: {' '.join(map(str, mistakes))} Nothing was recorded.")


def as_typed(text: str) -> str:
    """The text as the page counted it: browsers send every line break as two characters."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


class ReasonField(forms.CharField):
    """A reason in words, counted as typed; whether one is needed, the record says."""

    def to_python(self, value: Any) -> str:
        """The stripped text with single line breaks."""
        return as_typed(super().to_python(value) or "")


class DecisionForm(PostedForm):
    """What was seen and decided: version, digest and the one-time number of this form."""

    kind = forms.ChoiceField(choices=Decision.Kind.choices)
    case_version = forms.IntegerField(min_value=1, max_value=2_000_000_000)
    proposal_number = forms.IntegerField(min_value=1, max_value=2_000_000_000)
    digest = forms.RegexField(r"\A[0-9a-f]{64}\Z")
    nonce = forms.UUIDField()
    reason = ReasonField(required=False)

    def answer(self, *, case_id: int) -> Answer:
        """The answer as the record takes it."""
        values = self.values()
        return Answer(
            case_id=case_id,
            case_version=values["case_version"],
            proposal_number=values["proposal_number"],
            digest=values["digest"],
            nonce=values["nonce"],
            reason=values["reason"],
        )


class ReasonForm(PostedForm):
    """A reason alone."""

    reason = ReasonField(required=False)


class FindingForm(ReasonForm):
    """What a person found out about an effect, and how much of it their page showed."""

    happened = forms.ChoiceField(
        choices=(("yes", "It happened"), ("no", "It did not happen")),
        error_messages={"required": "choose whether it happened."},
    )
    effect = forms.IntegerField(min_value=1)
    seen_attempts = forms.IntegerField(min_value=0)
    seen_looks = forms.IntegerField(min_value=0)
    seen_reports = forms.IntegerField(min_value=0)


class TrustForm(ReasonForm):
    """Which record is trusted again, at the version the page showed."""

    record = forms.IntegerField(min_value=1)
    seen_version = forms.IntegerField()


class WallTimeField(forms.CharField):
    """What clocks show, as a browser's date and time field sends it; empty means no time."""

    def to_python(self, value: Any) -> datetime | None:  # type: ignore[override]
        """The time without any zone: which one is meant is said beside it."""
        text = super().to_python(value)
        if not text:
            return None
        try:
            return datetime.fromisoformat(text)
        except ValueError as error:
            raise forms.ValidationError("give date and time, such as 2026-11-24T10:00.") from error


class WallTimeForm(PostedForm):
    """A time in a zone, and which of the two is meant where clocks show it twice."""

    time = WallTimeField(required=False)
    zone = forms.CharField(required=False, max_length=64)
    which = forms.ChoiceField(
        required=False, choices=(("earlier", "The earlier one"), ("later", "The later one"))
    )

    def wall_time(self) -> WallTime | None:
        """What was typed, None when no time was."""
        values = self.values()
        if values["time"] is None:
            return None
        return WallTime(wall=values["time"], zone=values["zone"], which=values["which"])


class LineForm(WallTimeForm):
    """A line of a case; its text is in `reason`, like everything typed that must not be lost."""

    sort = forms.CharField(max_length=12)
    party = forms.CharField(required=False)
    reason = ReasonField(required=False)


class EndForm(ReasonForm):
    """Which line is ended."""

    line = forms.IntegerField(min_value=1, max_value=2**62)


class SettleForm(ReasonForm):
    """Which goal is settled, and whether it is achieved or dropped."""

    goal = forms.CharField(
        max_length=64, error_messages={"required": "choose the goal that you settle."}
    )
    state = forms.ChoiceField(
        choices=((Goal.State.ACHIEVED, "Achieved"), (Goal.State.DROPPED, "Dropped")),
        error_messages={"required": "choose whether it is achieved or dropped."},
    )


def drops_in(posted: Mapping[str, str]) -> dict[str, str]:
    """Goal to the reason for which it is dropped, from the fields of a closing form."""
    start = "drop-"
    return {
        name.removeprefix(start): as_typed(reason)
        for name, reason in posted.items()
        if name.startswith(start) and reason.strip()
    }


class ConditionForm(WallTimeForm):
    """A standing condition; no desk means every desk."""

    sort = forms.CharField(max_length=12)
    title = forms.CharField(required=False)
    detail = ReasonField(required=False)
    desk = forms.ModelChoiceField(queryset=Desk.objects.all(), required=False)
    system = forms.CharField(required=False, max_length=32)
    blocks_releases = forms.BooleanField(required=False)


class TakeForm(PostedForm):
    """Who owned the case on the page of the person who takes it; empty for nobody."""

    seen_owner = forms.IntegerField(min_value=1, max_value=2_000_000_000, required=False)


class AssignForm(PostedForm):
    """To whom a case goes."""

    person = forms.IntegerField(
        min_value=1,
        max_value=2_000_000_000,
        error_messages={"required": "choose who takes the case."},
    )


class BudgetForm(PostedForm):
    """How much of what the agent may use on a case, and why; the limit stays as it was typed."""

    resource = forms.CharField(max_length=16)
    limit = forms.CharField(max_length=24)
    reason = ReasonField(required=False)


class RowForm(ReasonForm):
    """An answer to a row of a handover sheet, and the token of what was shown."""

    kind = forms.ChoiceField(choices=RowAnswer.Kind.choices)
    shown = forms.CharField()
    person = forms.IntegerField(required=False, min_value=1, max_value=2_000_000_000)
    as_blocked = forms.BooleanField(required=False)

    def read_back(self) -> dict[str, str]:
        """Fact key to the value that was read back; what cannot be a value counts as not read."""
        prefix = "read-"
        return {
            name.removeprefix(prefix): str(value)
            for name, value in self.data.items()
            if name.startswith(prefix)
            and str(value).isprintable()
            and len(str(value)) <= LONGEST_READ_BACK
        }


class NoteForm(ReasonForm):
    """A note for the next shift, and the note that the page showed."""

    seen = ReasonField(required=False)


class PauseForm(PostedForm):
    """What to pause, and why; empty scopes mean everything."""

    lane = forms.CharField(required=False, max_length=16)
    kind = forms.CharField(required=False, max_length=32)
    agent = forms.CharField(required=False, max_length=64)
    reason = ReasonField(required=False)
