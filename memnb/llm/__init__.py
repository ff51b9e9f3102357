"""Who is asked: the only layer that talks to a model or a network."""
