"""Pictures of a position: `svg` draws it, `rgb` turns the drawing into pixels, `ansi` is for the terminal.

All three are functions of a game record alone, and show what one seat may see: `seat=2` shows that player's hand,
`seat=-1` (a spectator) none, `seat=None` all of them, which needs a complete game. Nothing here knows a rule.
"""

from borneo_env.render.gallery import make_pictures
from borneo_env.render.picture import svg
from borneo_env.render.pixels import rgb
from borneo_env.render.terminal import ansi

__all__ = ["ansi", "make_pictures", "rgb", "svg"]
