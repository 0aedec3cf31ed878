"""Find the Chromium that tests and pictures use. Runs on any Python from 3.6 on."""

import os
import platform
import shutil
from typing import Callable, List, Optional, Tuple

from tools.oneline import OneLine, last_line, say

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
APPLICATIONS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
# Headless, quiet and offline: without these a fresh Chromium talks to the network at every start.
LAUNCH_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find() -> Optional[str]:
    """The path of an installed Chromium or Chrome, or None."""
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    for path in APPLICATIONS:
        if os.access(path, os.X_OK):
            return path
    return None


def required() -> str:
    """The path of the browser; raises OneLine with the install command when there is none."""
    path = find()
    if path is None:
        raise OneLine(missing())
    return path


def missing() -> str:
    """The one line for a machine without a browser."""
    if platform.system() == "Darwin":
        command = "brew install --cask chromium"
    elif os.geteuid() == 0:
        command = "apt-get install chromium"
    else:
        command = "sudo apt-get install chromium"
    return (
        "The browser tests need Chromium: install it ({}) and run the same command again.".format(
            command
        )
    )


def ensure(run: Callable[[List[str]], Tuple[int, str]]) -> None:
    """Make sure of a browser; on Debian, root may install it here and now."""
    if find():
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise OneLine(missing())
    say("Setting up: installing Chromium with apt-get …")
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    run(["apt-get", "update"])
    install = [
        "apt-get",
        "install",
        "-y",
        "--no-install-recommends",
        "chromium",
        "fonts-liberation",
    ]
    status, output = run(install)
    if status or not find():
        raise OneLine("{} (apt-get: {})".format(missing(), last_line(output)))
