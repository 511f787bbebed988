"""Learning to play Borneo: `borneo train`, and the games as stable-baselines3 wants them."""
