"""A real browser on a live server, and people who are signed in there."""

import os
from collections.abc import Callable, Iterator
from typing import Literal

import pytest
from django.conf import settings as django_settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from cases.models import Person
from tests.cases.builders import Cast, a_cast
from tools.browser import LAUNCH_FLAGS, required

PATIENCE_MILLISECONDS = 10_000

# The browser's driver runs an event loop in the test's own thread; its database calls stay plain.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

type OpenTab = Callable[..., Page]
type Theme = Literal["light", "dark"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for the whole run; a missing one fails with the line that installs it."""
    with sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=required(), args=list(LAUNCH_FLAGS))
        yield launched
        launched.close()


@pytest.fixture
def cast(transactional_db: None, settings: Settings) -> Cast:
    """The people and the desk, visible to the live server, with a clock that may move."""
    settings.MOVABLE_CLOCK = True
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    people = a_cast()
    people.owner.set_password("night-watch")
    people.owner.save()
    return people


@pytest.fixture
def context_of(
    browser: Browser, live_server: LiveServer
) -> Iterator[Callable[..., BrowserContext]]:
    """Browser sessions of people; each is its own browser profile."""
    opened: list[BrowserContext] = []

    def context_of(
        person: Person | None, *, theme: Theme = "light", width: int = 1280, scripts: bool = True
    ) -> BrowserContext:
        context = browser.new_context(
            base_url=live_server.url,
            java_script_enabled=scripts,
            color_scheme=theme,
            viewport={"width": width, "height": 900},
        )
        context.set_default_timeout(PATIENCE_MILLISECONDS)
        opened.append(context)
        if person is not None:
            sign_in(context, person, address=live_server.url)
        return context

    yield context_of
    for context in opened:
        context.close()


def sign_in(context: BrowserContext, person: Person, *, address: str) -> None:
    """Give the profile a session of the person; the login page has a journey of its own."""
    client = Client()
    client.force_login(person)
    session = client.cookies[django_settings.SESSION_COOKIE_NAME].value
    context.add_cookies(
        [{"name": django_settings.SESSION_COOKIE_NAME, "value": session, "url": address}]
    )


@pytest.fixture
def complaints() -> list[str]:
    """What the browser's console complained of, across the tabs of `open_tab`."""
    return []


@pytest.fixture
def open_tab(complaints: list[str]) -> OpenTab:
    """Open an address in a new tab of a context and listen to its console."""

    def open_tab(context: BrowserContext, address: str) -> Page:
        page = context.new_page()
        page.on(
            "console",
            lambda message: complaints.append(message.text) if message.type == "error" else None,
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        return page

    return open_tab
