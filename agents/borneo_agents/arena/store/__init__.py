"""What a run keeps: its folder, the digests of the code that played, and records of games."""
