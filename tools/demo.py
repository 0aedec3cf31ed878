"""`make demo`: the desk in a browser on the S-318 night, until Ctrl-C."""

import sys

from tools.oneline import OneLine
from tools.stage import play_on_stage

if __name__ == "__main__":
    try:
        sys.exit(play_on_stage(purpose="demo", story="tools.stories.demo"))
    except OneLine as problem:
        sys.exit(str(problem))
    except KeyboardInterrupt:
        sys.exit(130)
