"""Flow versions: which graph resumes a case that was started under which version.

A version stays here as long as open cases carry it. A case of a version that is not listed is never
guessed at: the runner hands it to a person.
"""

from collections.abc import Callable, Mapping

from agent.graph import CaseGraph, build_graph

FLOW_VERSION = 1

FLOWS: Mapping[int, Callable[[], CaseGraph]] = {FLOW_VERSION: build_graph}
