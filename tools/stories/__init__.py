"""The stories that must always run, on real parts; see `tools.overnight` and `tools.demo`."""
