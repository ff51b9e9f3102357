"""Forget, proved: what goes, what falls silent, what is told of, and what never comes back."""
