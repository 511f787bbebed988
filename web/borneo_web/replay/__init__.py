"""A recorded game as one page for a browser: it opens from the disk, and nothing is fetched.

`recorded.py` has the positions and the story, `eyes.py` what somebody sees of them, `thoughts.py` what agents think of
the options. `page.py` writes all that into `page.html`, with `page.css` and the scripts beside it.
"""

from borneo_web.replay.replay import Replay, write_replay

__all__ = ["Replay", "write_replay"]
