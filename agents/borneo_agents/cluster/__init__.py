"""Several machines: what the arena and trainings need of Ray, and nobody else imports."""
