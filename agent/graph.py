"""The one graph, the same for every kind of case.

    look -> gather -> compare -> plan -> propose -> wait -> look
    look -> revalidate -> act -> verify -> (revalidate | repeat | wait)

Steps name their successors themselves; `look` asks the record where a case goes on.
"""

from langgraph.graph import START, StateGraph

from agent import nodes
from agent.state import CaseState, Work

type CaseGraph = StateGraph[CaseState, Work, CaseState, CaseState]

STEPS = (
    nodes.look,
    nodes.gather,
    nodes.compare,
    nodes.plan,
    nodes.propose,
    nodes.revalidate,
    nodes.act,
    nodes.verify,
    nodes.repeat,
    nodes.wait,
)


def build_graph() -> CaseGraph:
    """The graph, not yet bound to where its checkpoints are kept."""
    graph: CaseGraph = StateGraph(CaseState, context_schema=Work)
    for step in STEPS:
        graph.add_node(step.__name__, step)
    graph.add_edge(START, nodes.look.__name__)
    return graph
