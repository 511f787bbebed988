"""`python -m borneo_train` is `borneo train`."""

import typer

from borneo_train.command import train

if __name__ == "__main__":
    typer.run(train)
