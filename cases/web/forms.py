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


class DecisionForm(PostedForm):
    """What was seen and decided: version, digest and the one-time number of this form."""

    kind = forms.ChoiceField(choices=Decision.Kind.choices)
    case_version = forms.IntegerField(min_value=1, max_value=2_000_000_000)
    proposal_number = forms.IntegerField(min_value=1, max_value=2_000_000_000)
    digest = forms.RegexField(r"\A[0-9a-f]{64}\Z")
    nonce = forms.UUIDField()
    reason = forms.CharField(required=False, strip=True)

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
    """A reason in words; whether one is needed, the record says."""

    reason = forms.CharField(required=False, strip=True)


class AssignForm(PostedForm):
    """To whom a case goes."""

    person = forms.IntegerField(
        min_value=1,
        max_value=2_000_000_000,
        error_messages={"required": "choose who takes the case."},
    )
