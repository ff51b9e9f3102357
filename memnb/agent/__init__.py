"""Who does it: one turn of the agent, its tools and its permissions."""
