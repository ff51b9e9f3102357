"""Promotion without a model: what a person's sentence says, as a fixed rule reads it."""
