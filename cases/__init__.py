"""The record: cases, what was seen, proposed, decided and done, and the pages people work in."""
