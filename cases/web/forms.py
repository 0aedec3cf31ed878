"""Forms check what was posted and hand it on as plain values; they decide nothing."""

from typing import Any

from django import forms

from cases.actions.decisions import Answer
from cases.models import Decision
from cases.vocabulary.errors import InvalidInput


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


class PauseForm(PostedForm):
    """What to pause, and why; empty scopes mean everything."""

    lane = forms.CharField(required=False, max_length=16)
    kind = forms.CharField(required=False, max_length=32)
    agent = forms.CharField(required=False, max_length=64)
    reason = ReasonField(required=False)
