"""Until all imports say kontor.compile."""

import sys
from importlib import import_module

for _name in ("decorators", "digest", "linking", "lookup", "numba_private", "plain", "progress", "store"):
    sys.modules[f"{__name__}.{_name}"] = import_module(f"kontor.compile.{_name}")
sys.modules[__name__] = import_module("kontor.compile")
