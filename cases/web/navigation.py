"""The views of the queue as the navigation names them."""

from cases.queries.acts import View

NAVIGATION = (
    (View.MINE, "My turn", "turn"),
    (View.STALE, "Stale", "changed"),
    (View.BLOCKED, "Blocked", "blocked"),
    (View.UNKNOWN, "Unknown", "unknown"),
    (View.UNOWNED, "Unowned", "unowned"),
    (View.ALL, "All open", "list"),
)
TITLES = {
    View.MINE: "My turn",
    View.STALE: "Stale: review again",
    View.BLOCKED: "Blocked",
    View.UNKNOWN: "Outcome unknown",
    View.UNOWNED: "Without an available owner",
    View.ALL: "All open cases",
}
