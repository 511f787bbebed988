"""Until all imports say kontor.engine.threads."""

import sys
from importlib import import_module

sys.modules[__name__] = import_module("kontor.engine.threads")
