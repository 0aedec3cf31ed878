"""Remove all that set-up and running made: back to a fresh clone. Any Python from 3.6 on."""

import fcntl
import glob
import os
import shutil
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Where PostgreSQL lives when root's clone is out of its reach (see tools/postgres.py).
SHELTER = "/var/tmp/watchbill-"


def running() -> str:
    """The purpose whose services are running, or nothing."""
    for path in glob.glob(os.path.join(ROOT, "var", "*", "lock")):
        with open(path) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return os.path.basename(os.path.dirname(path))
    return ""


def main() -> int:
    """Remove everything, unless something runs."""
    purpose = running()
    if purpose:
        print("“{}” is running: stop it first.".format(purpose), file=sys.stderr)
        return 1
    for link in glob.glob(os.path.join(ROOT, "var", "*", "postgres")):
        if os.path.islink(link) and os.readlink(link).startswith(SHELTER):
            shutil.rmtree(os.readlink(link), ignore_errors=True)
    names = [".venv", "var", ".hypothesis"] + glob.glob(os.path.join(ROOT, ".*_cache"))
    for name in names:
        shutil.rmtree(os.path.join(ROOT, name), ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
