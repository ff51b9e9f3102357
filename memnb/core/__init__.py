"""What things are: values and decisions, with no I/O, clock, randomness or logging."""
