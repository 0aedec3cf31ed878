"""Planners: they choose among what the playbook allows, and never act."""
