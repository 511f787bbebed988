"""Networks that learn what agents play."""
