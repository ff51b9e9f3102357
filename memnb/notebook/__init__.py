"""How a person sees it in IPython: magics, display, completion."""
