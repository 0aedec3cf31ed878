"""The pages: views that load, call one action or query, and answer."""
