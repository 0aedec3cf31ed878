"""Views: load, one call, answer."""
