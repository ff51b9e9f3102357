"""How a program sees it: the `Memory` object and its results."""
