"""`python -m borneo_train` is `borneo train`."""

import sys

from borneo_env.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "train")
    main()
