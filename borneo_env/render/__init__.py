"""Pictures of a position: `Picture` shows itself in notebooks, prints and saves itself; it has SVG, pixels and text.
`Animation` is a recorded game as moving pictures.

Both are functions of game records alone, and show what one seat may see: `seat=2` shows that player's hand, `seat=-1`
(a spectator) none, `seat=None` all of them, which needs a complete game. Nothing here knows a rule.
"""

from borneo_env.render.animation import Animation
from borneo_env.render.gallery import make_pictures
from borneo_env.render.picture import Picture, notice
from borneo_env.render.pixels import rgb

__all__ = ["Animation", "Picture", "make_pictures", "notice", "rgb"]
