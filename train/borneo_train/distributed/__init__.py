"""Several processes that learn as one, here or on a cluster."""
