"""Until all imports say kontor.templates.dice."""

import sys
from importlib import import_module

sys.modules[__name__] = import_module("kontor.templates.dice")
