"""Bots that search: determinizations of what a player sees, playouts by a scripted bot, and win probabilities."""
