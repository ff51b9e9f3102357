"""What is done: one module for each process of memory."""
