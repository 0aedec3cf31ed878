"""The only writers of the record. Every module reads alike: lock, compare, ask, change, audit."""
