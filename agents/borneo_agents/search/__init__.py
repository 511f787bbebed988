"""Search in determinizations of what a player sees, in any game, with playouts by one of its bots."""
