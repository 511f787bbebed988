"""How fast the environments are, beside others."""
