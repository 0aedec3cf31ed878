"""Audit events as readable sentences. An event nobody wrote words for still reads decently."""

from collections.abc import Callable, Mapping
from typing import Any

from cases.models import CaseLine
from cases.queries.values import UNSAYABLE, plain_text
from cases.vocabulary.budgets import NAMES, Resource, amount_text
from cases.vocabulary.digest import short_code
from cases.vocabulary.stages import STAGES, Stage

type Data = Mapping[str, Any]

DECISIONS = {"release": "Release", "reject": "Rejection", "send_back": "Sending back"}


def sentence_for(*, event: str, data: Data) -> str:
    """What happened, as one sentence without its actor and time."""
    words = SENTENCES.get(event)
    if words is not None:
        try:
            return words(data)
        except UNSAYABLE:
            pass
    name = event.replace("_", " ").capitalize()
    return _with_reason(name, data)


def _with_reason(start: str, data: Data) -> str:
    reason = str(data.get("reason", "")).strip()
    return f"{start}: {reason}" if reason else f"{start}."


def _code(data: Data) -> str:
    digest = data.get("digest")
    return f", code {short_code(digest)}" if digest else ""


def _stage(value: object) -> str:
    try:
        return STAGES[Stage(str(value))].label.lower()
    except ValueError:
        return str(value)


def _opened(data: Data) -> str:
    owner = f" for {data['owner']}" if data.get("owner") else " without an owner"
    return f"Case opened about {data['subject']}: {data.get('title', '')}{owner}"


def _owner(data: Data) -> str:
    before = f"from {data['before']} " if data.get("before") else ""
    return _with_reason(f"Ownership moved {before}to {data['to']}", data)


def _read(data: Data) -> str:
    if data.get("outcome") == "missing":
        return f"Not found in its source: {data['record']}."
    version, before = data.get("version"), data.get("version_before")
    at = "" if version is None else f" at version {version}"
    if not data.get("changed"):
        return f"Read {data['record']}{at}: nothing changed."
    if before is None:
        return f"Read {data['record']}{at}."
    if before == version:
        return f"Read {data['record']} again, still{at}: its facts changed."
    return f"Read {data['record']}{at}, before version {before}."


def _proposed(data: Data) -> str:
    changes = data.get("changes") or []
    lists = f", listing {len(changes)} changed facts" if len(changes) > 1 else ""
    lists = ", listing 1 changed fact" if len(changes) == 1 else lists
    return f"Proposal {data['number']} made{_code(data)}{lists}."


def _refused(data: Data) -> str:
    what = DECISIONS.get(str(data.get("decision")), "A decision")
    return f"{what} of proposal {data['number']} refused: {data['reason']}"


def _act_refused(data: Data) -> str:
    return _with_reason(f"Tried to {data['act']}, refused", data)


def _about_proposal(verb: str) -> Callable[[Data], str]:
    return lambda data: _with_reason(f"Proposal {data['number']} {verb}", data)


def _plain(start: str) -> Callable[[Data], str]:
    return lambda data: _with_reason(start, data)


def _released(data: Data) -> str:
    return _with_reason(f"Released proposal {data['number']}{_code(data)}", data)


def _blocked(data: Data) -> str:
    tries = data.get("tries")
    return _with_reason("Case blocked" + (f" (try {tries})" if tries else ""), data)


def _budget_raised(data: Data) -> str:
    resource = Resource(data["resource"])
    before, now, used = (
        amount_text(resource=resource, amount=int(data[key])) for key in ("before", "limit", "used")
    )
    start = f"Budget of {NAMES[resource]} raised from {before} to {now}, {used} used"
    return _with_reason(start, data)


def _plan_asked(data: Data) -> str:
    again = data.get("times_asked", 1)
    return f"Asked {data['planner']} for a plan" + (
        f", for the {again}. time." if again > 1 else "."
    )


def _attempt(data: Data) -> str:
    number = data.get("attempt") or data.get("number")
    reference = f" for {data['reference']}" if data.get("reference") else ""
    return f"Attempt {number or ''}".rstrip() + f" started{reference}."


def _attempt_ended(data: Data) -> str:
    outcome = str(data.get("outcome", "ended")).replace("_", " ")
    return _with_reason(f"Attempt ended, {outcome}", data)


def _not_searchable(data: Data) -> str:
    return f"The target offers no way to look {data['reference']} up."


def _read_back(data: Data) -> str:
    if "found" not in data:
        return _with_reason("The target was read back", data)
    found = "found" if data["found"] else "not found"
    fits = "" if not data["found"] else (", as released" if data.get("matches") else ", different")
    return _with_reason(f"The target was read back, {found}{fits}", data)


def _reported(data: Data) -> str:
    record = " ".join(filter(None, (data["record_type"], data["record_id"])))
    about = data["reference"] or "no reference of ours"
    status = f", {data['status']}" if data["status"] else ""
    return f"The {data['system']} system reported {data['report']} ({record}{status}; {about})."


def _sort(data: Data) -> str:
    return str(CaseLine.Sort(data["sort"]).label)


def _finding(data: Data) -> str:
    word = "happened" if data["happened"] else "did not happen"
    return f"Found that {data['reference']} {word}: {data['reason']}"


def _answered(data: Data) -> str:
    word = {
        "accept": "accepted",
        "assign": f"assigned to {data['to']}",
        "escalate": "escalated",
        "question": "answered with a question",
        "refuse": "refused",
    }[data["answer"]]
    blocked = " as blocked" if data.get("as_blocked") else ""
    return _with_reason(f"At the handover {word}{blocked}", data)


SENTENCES: dict[str, Callable[[Data], str]] = {
    "case_opened": _opened,
    "owner_changed": _owner,
    "source_read": _read,
    "source_failed": lambda data: f"Could not read {data['record']}: {data['reason']}.",
    "plan_asked": _plan_asked,
    "plan_answered": lambda data: f"{data['planner']} answered{_code(data)}.",
    "proposal_made": _proposed,
    "proposal_retained": _about_proposal("still holds"),
    "proposal_stale": _about_proposal("is stale"),
    "proposal_expired": _about_proposal("expired"),
    "proposal_withdrawn": _about_proposal("withdrawn"),
    "released": _released,
    "rejected": _about_proposal("rejected"),
    "sent_back": _about_proposal("sent back"),
    "decision_refused": _refused,
    "act_refused": _act_refused,
    "release_ended": lambda data: _with_reason(f"Release of proposal {data['number']} ended", data),
    "attempt_started": _attempt,
    "attempt_ended": _attempt_ended,
    "read_back": _read_back,
    "not_searchable": _not_searchable,
    "effect_confirmed": _plain("Effect confirmed by a fresh read-back"),
    "effect_adopted": _plain("Effect adopted by the other party"),
    "case_blocked": _blocked,
    "budget_raised": _budget_raised,
    "decision_overdue": lambda data: (
        f"Proposal {data['number']} was not decided in time: escalated to {data['to']}."
    ),
    "escalated": lambda data: _with_reason(f"Escalated to {data['to']}", data),
    "adoption_overdue": lambda data: (
        f"{data['reference']} was not taken up in time ({data['awaited'].lower()} is awaited): "
        f"escalated to {data['to']}."
    ),
    "escalation_ended": _plain("The escalation ended"),
    "case_unblocked": _plain("Case no longer blocked"),
    "case_escalated": _plain("Escalated to a person"),
    "backed_off": _plain("The agent backed off"),
    "finding_recorded": _finding,
    "event_reported": _reported,
    "look_repeated": _plain("The target is looked at again"),
    "source_trusted": lambda data: (
        f"Trusted {data['record']} again at version {data['version']}, before "
        f"{data['version_before']}: {data['reason']}"
    ),
    "release_withdrawn": lambda data: _with_reason(
        f"Release of proposal {data['number']} withdrawn", data
    ),
    "flow_migrated": lambda data: (
        f"The agent's saved state was translated from flow {data['before']} to {data['now']}."
    ),
    "handover_answered": _answered,
    "handover_note": lambda data: f"Note for the next shift: {data['note'] or 'none'}",
    "handover_row_repaired": _plain("The handover row was brought up to date"),
    "goal_added": lambda data: f"A goal was added: {data['goal']}",
    "goal_achieved": lambda data: _with_reason(f"Goal “{data['goal']}” achieved", data),
    "goal_dropped": lambda data: _with_reason(f"Goal “{data['goal']}” dropped", data),
    "line_written": lambda data: f"{_sort(data)} written down: {data['text']}",
    "line_ended": lambda data: _with_reason(f"{_sort(data)} ended ({data['text']})", data),
    "outcome_accepted": _plain("Outcome accepted"),
    "case_closed": _plain("Case closed"),
    "plan_requested": _plain("A new plan was asked for"),
    "refresh_requested": _plain("A fresh reading was asked for"),
    "planning_due": _plain("Planning is due"),
    "source_compared": _plain("Compared with the sources"),
    "stage_entered": lambda data: _with_reason(
        f"Now {_stage(data['stage'])}, before {_stage(data.get('before', ''))}", data
    ),
}

SAID_ALREADY = frozenset(
    {"reason", "changes", "number", "record", "digest", "version", "version_before", "stage"}
    | {"before", "outcome", "changed", "decision", "to", "owner", "found", "matches", "planner"}
    | {"answer", "as_blocked", "note"}
    | {"act", "happened", "resource", "limit", "used", "report", "status", "system", "awaited"}
    | {"goal", "sort", "text"}
)
QUIET_EVENTS = frozenset({"stage_entered", "plan_asked", "plan_answered", "planning_due"})


def details_for(*, data: Data) -> list[tuple[str, str]]:
    """What the sentence does not say, as name and value."""
    return [
        (key.replace("_", " "), plain_text(value))
        for key, value in sorted(data.items())
        if key not in SAID_ALREADY and value not in (None, "", [], {})
    ]
