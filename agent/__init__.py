"""The agent: reads the outside, prepares plans, acts on what people released; decides nothing."""
