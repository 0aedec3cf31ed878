"""`make overnight`: the S-318 night with real services and processes, on databases made for it."""

import sys

from tools.oneline import OneLine
from tools.stage import play_on_stage

if __name__ == "__main__":
    try:
        sys.exit(play_on_stage(purpose="overnight", story="tools.stories.overnight"))
    except OneLine as problem:
        sys.exit(str(problem))
    except KeyboardInterrupt:
        sys.exit(130)
