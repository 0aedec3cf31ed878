"""Who stands at the demo's desk, and what holds there beyond a shift."""

from datetime import date, timedelta

from tools.stories.s318 import MORNING, Night

# isort: split
from django.conf import settings

from cases.actions import conditions, people, roster
from cases.clock import business_now
from cases.models import Desk, Role, ShiftPattern
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.rosters import Position
from cases.vocabulary.shifts import EVERY_DAY

LEAVE_BEGINS = MORNING - timedelta(minutes=8)
COLLEAGUES = (
    ("dana", "Dana Wu", Role.OPERATOR),
    ("lee", "Lee Park", Role.OPERATOR),
    ("nora", "Nora Blake", Role.LEAD),
)
WATCHES = (
    ("Day", Position.PRIMARY, "marta"),
    ("Day", Position.BACKUP, "dana"),
    ("Evening", Position.PRIMARY, "kim"),
    ("Evening", Position.BACKUP, "lee"),
)
FIRST_DAY = date(2026, 11, 1)
CONDITION = "Harbor Foods wants the phone, not mail, before 09:00"


def set_roster(night: Night) -> None:
    """Robin Kim has the evening with Lee Park, who leaves before it ends; Marta Ortega the day."""
    at, desk = business_now(), Desk.objects.get()
    for username, name, role in COLLEAGUES:
        people.enrol_person(
            username=username,
            name=name,
            role=role,
            password=settings.DEMO_PASSWORD,
            zone=desk.zone,
            by=SYSTEM,
            at=at,
        )
    lead, lee = night.person("priya"), night.person("lee")
    manager = night.person("nora")
    roster.set_desk_leads(desk=desk, lead=lead, manager=manager, by=lead, at=at)
    for shift, position, username in WATCHES:
        watch = roster.NewWatch(
            shift_id=ShiftPattern.objects.get(desk=desk, name=shift).pk,
            position=position,
            person=night.person(username),
            first_day=FIRST_DAY,
            last_day=None,
            days=EVERY_DAY,
        )
        roster.put_on_watch(wanted=watch, by=lead, at=at)
    roster.set_leave(
        person=lee,
        starts_at=LEAVE_BEGINS,
        ends_at=MORNING + timedelta(days=3),
        reason="Parental leave",
        by=lead,
        at=at,
    )
    told = conditions.NewCondition(
        sort="other", title=CONDITION, desk=desk, detail="Ask for receiving, extension 4."
    )
    conditions.open_condition(wanted=told, by=lead, at=at)
