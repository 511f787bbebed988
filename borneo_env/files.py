"""Until all imports say kontor.files."""

import sys
from importlib import import_module

sys.modules[__name__] = import_module("kontor.files")
