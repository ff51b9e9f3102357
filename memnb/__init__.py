"""Agent memory with receipts, inside the notebook."""

__version__ = "0.1.0"
