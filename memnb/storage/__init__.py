"""Where things are kept: the only layer that touches the disk."""
