"""A training from its settings to its report."""
