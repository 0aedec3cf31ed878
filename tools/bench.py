"""`make bench`: the refresh of 10,000 cases, measured on databases made for it."""

import sys

from tools.oneline import OneLine
from tools.stage import play_on_stage

if __name__ == "__main__":
    try:
        sys.exit(play_on_stage(purpose="bench", story="benchmarks.refresh"))
    except OneLine as problem:
        sys.exit(str(problem))
    except KeyboardInterrupt:
        sys.exit(130)
