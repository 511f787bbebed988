"""The networks: what they see, how weights are tied, and how they run on a CPU or a card."""
