"""Search in determinizations of what a player sees, with playouts by a scripted bot."""
