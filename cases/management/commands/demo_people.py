"""Set up the demo desk: people of each role, and the agent. Repeating it changes nothing."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from cases.actions.people import enrol_person, register_agent, set_up_desk
from cases.clock import business_now
from cases.models import Role
from cases.vocabulary.actors import SYSTEM

DESK = "DFW desk"
ZONE = "America/Chicago"
PEOPLE = (
    ("marta", "Marta Ortega", Role.OPERATOR),
    ("kim", "Robin Kim", Role.OPERATOR),
    ("priya", "Priya Raman", Role.LEAD),
    ("alex", "Alex Stone", Role.ADMIN),
    ("audrey", "Audrey Falk", Role.AUDITOR),
)


class Command(BaseCommand):
    """`demo_people`: only where the demo is switched on, since everyone knows the password."""

    help = __doc__ or ""

    def handle(self, *args: Any, **options: Any) -> None:
        """Enrol everyone."""
        if not settings.DEMO:
            raise CommandError("These logins are public: set WATCHBILL_DEMO=1 to have them.")
        at = business_now()
        people = {
            username: enrol_person(
                username=username,
                name=name,
                role=role,
                password=settings.DEMO_PASSWORD,
                zone=ZONE,
                by=SYSTEM,
                at=at,
            )
            for username, name, role in PEOPLE
        }
        set_up_desk(name=DESK, zone=ZONE, lead=people["priya"], by=SYSTEM, at=at)
        register_agent(name="exception-bot", version="1.0", owner=people["alex"], by=SYSTEM, at=at)
        self.stdout.write(f"{DESK} is set up; everyone's password is {settings.DEMO_PASSWORD}.")
