"""What templates need to show: local times, icons, and text with nothing hidden in it."""

import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django import template
from django.templatetags.static import static
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from cases.models import Person
from cases.queries.people import ReadingZone, reading_zone
from cases.queries.values import age_text, said
from cases.vocabulary.clocks import iso, local_text, zone_named

register = template.Library()

HIDDEN = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
ALLOWED = frozenset({"\n", "\t", " "})


@register.simple_tag
def icon(name: str) -> SafeString:
    """An icon of the sprite; decorative, since a word always stands beside it."""
    return format_html(
        '<svg class="icon" aria-hidden="true" focusable="false"><use href="{}#{}"></use></svg>',
        static("watchbill/icons.svg"),
        name,
    )


@register.simple_tag(takes_context=True)
def when(
    context: dict[str, Any],
    moment: datetime | None,
    zone: str,
    *,
    seconds: bool = False,
    yours: bool = False,
    dated: bool = False,
) -> SafeString:
    """An instant in `zone`, without its date when that is today there.

    `seconds` shows them; `yours` adds the reader's own time where it differs; `dated` always shows
    the date.
    """
    if moment is None:
        return mark_safe("–")
    today = None if dated else _present(context)
    text = _text(moment, zone, today, seconds)
    own = _own_zone(context)
    own_text = _text(moment, own, today, seconds) if own else text
    # The reader's own time is also the tooltip, as people expect of a time on a page.
    title = f"{own_text} for you · {iso(moment)}" if own_text != text else iso(moment)
    shown = format_html('<time datetime="{}" title="{}">{}</time>', iso(moment), title, text)
    if yours and own_text != text:
        return format_html('{} <span class="yours">{} for you</span>', shown, own_text)
    return shown


def _present(context: dict[str, Any]) -> datetime | None:
    present = context.get("at")
    if isinstance(present, datetime):
        return present
    frame = context.get("frame")
    return getattr(frame, "at", None)


def _own_zone(context: dict[str, Any]) -> str:
    user = getattr(context.get("request"), "user", None)
    return reading_zone(user).name if isinstance(user, Person) else ""


def _text(moment: datetime, zone: str, today: datetime | None, seconds: bool) -> str:
    """The local time; the plain instant where it or the zone cannot be shown locally."""
    return said(lambda: _local(moment, zone, today, seconds), otherwise=iso(moment))


def _local(moment: datetime, zone: str, today: datetime | None, seconds: bool) -> str:
    if not seconds:
        return local_text(moment, zone=zone, relative_to=today)
    local = moment.astimezone(zone_named(zone))
    clock = f"{local:%H:%M:%S} {local.tzname()}"
    if today is not None and today.astimezone(local.tzinfo).date() == local.date():
        return clock
    return f"{local:%a} {local.day} {local:%b} {clock}"


@register.simple_tag(takes_context=True)
def age(context: dict[str, Any], since: datetime | None) -> str:
    """How long ago something was; ages only, never deadlines."""
    present = _present(context)
    if since is None or present is None:
        return ""
    return f"{age_text(since=since, at=present)} ago"


@register.simple_tag(takes_context=True)
def saved_day(context: dict[str, Any], moment: datetime | None, zone: str) -> str:
    """How to call an old value: `yesterday’s`, `today’s earlier`, or `Fri 20 Nov`."""
    present = _present(context)
    if moment is None or present is None:
        return "never read"
    return said(lambda: _day_of(moment, present, zone), otherwise=f"of {iso(moment)}")


def _day_of(moment: datetime, present: datetime, zone: str) -> str:
    then, now = moment.astimezone(zone_named(zone)), present.astimezone(zone_named(zone))
    days = (now.date() - then.date()).days
    if days == 0:
        return "earlier today"
    return "yesterday’s" if days == 1 else f"of {then:%a} {then.day} {then:%b}"


@register.filter
def visible(text: object) -> SafeString:
    """Text with nothing hidden: control, direction and odd space characters are shown by number."""
    characters = str("" if text is None else text)
    if not any(_is_hidden(character) for character in characters):
        return conditional_escape(characters)
    return format_html_join("", "{}", ((_shown(character),) for character in characters))


def _is_hidden(character: str) -> bool:
    if character in ALLOWED:
        return False
    category = unicodedata.category(character)
    return category in HIDDEN or category == "Zs"


def _shown(character: str) -> SafeString | str:
    if not _is_hidden(character):
        return character
    name = unicodedata.name(character, "unnamed character")
    return format_html(
        '<span class="hidden-character" title="{}">U+{}</span>', name, f"{ord(character):04X}"
    )


@register.filter(name="reading_zone")
def reading_zone_of(person: Person) -> ReadingZone:
    """The zone in which a person reads times."""
    return reading_zone(person)


@register.filter
def epoch(moment: datetime) -> int:
    """Seconds since 1970, UTC."""
    return int(moment.astimezone(UTC).timestamp())


@register.filter
def at_key(mapping: Mapping[str, Any], key: str) -> Any:
    """The value under a key that is itself a variable."""
    return mapping.get(key, "")


@register.filter
def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


TONE_ICONS = {
    "ready": "turn",
    "changed": "changed",
    "blocked": "blocked",
    "unknown": "unknown",
    "done": "done",
    "waiting": "clock",
}


@register.filter
def tone_icon(tone: str) -> str:
    """The icon that belongs to a tone."""
    return TONE_ICONS.get(tone, "none")


ACT_ICONS = {
    "rereview": "changed",
    "decide": "turn",
    "unknown": "unknown",
    "blocked": "blocked",
    "escalated": "lead",
    "accept": "done",
    "unowned": "unowned",
    "agent": "agent",
}


@register.filter
def act_icon(act: str) -> str:
    """The icon of a queue section."""
    return ACT_ICONS.get(act, "list")
