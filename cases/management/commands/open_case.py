"""Open a case by hand: `open_case S-318 --type E02 --owner marta`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from cases.actions.intake import NewCase, open_case
from cases.clock import business_now
from cases.models import Desk, Person
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.errors import WatchbillError


class Command(BaseCommand):
    """Prints the new case's number; a refusal is one line and exit code 1."""

    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The subject and, optionally, what differs from a tender that failed at the only desk."""
        parser.add_argument("subject")
        parser.add_argument("--kind", default="freight_exception")
        parser.add_argument("--type", default="E02")
        parser.add_argument("--title", default="")
        parser.add_argument("--system", default="transport")
        parser.add_argument("--desk", default="", help="needed when there is more than one desk")
        parser.add_argument("--owner", default="", help="login name")

    def handle(self, *args: Any, **options: Any) -> None:
        """Open it."""
        try:
            opened = open_case(
                wanted=NewCase(
                    kind=options["kind"],
                    case_type=options["type"],
                    subject=options["subject"],
                    title=options["title"],
                    system=options["system"],
                    desk=self._desk(options["desk"]),
                    owner=self._owner(options["owner"]),
                ),
                by=SYSTEM,
                at=business_now(),
            )
        except WatchbillError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(str(opened.case_id))

    def _desk(self, name: str) -> Desk:
        desks = list(Desk.objects.filter(name=name) if name else Desk.objects.all()[:2])
        if len(desks) != 1:
            known = ", ".join(Desk.objects.values_list("name", flat=True)) or "none yet"
            raise CommandError(f"Name one desk with --desk. Desks: {known}.")
        return desks[0]

    def _owner(self, username: str) -> Person | None:
        if not username:
            return None
        person = Person.objects.filter(username=username).first()
        if person is None:
            raise CommandError(f"Nobody logs in as {username!r}.")
        return person
