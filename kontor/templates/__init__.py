"""Functions written once for all games: their open names are filled in when they are bound to one."""
