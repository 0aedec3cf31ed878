"""The read side: frozen values for pages, API and agent. Nothing here writes."""
