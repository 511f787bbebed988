"""Games with people in them: the game itself, and the terminal that shows it."""
