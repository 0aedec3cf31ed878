"""The outside systems, one adapter each. Nothing else in the project speaks to them."""
