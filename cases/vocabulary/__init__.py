"""Pure rules and words of the desk. Nothing here knows Django, a database or a network."""
