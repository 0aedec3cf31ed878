"""The outside world: a transport management system reached over HTTP only."""
