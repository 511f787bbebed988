"""The commands of `borneo` that need the game alone. Others come with the packages they are about."""
