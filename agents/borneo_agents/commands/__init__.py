"""The commands of `borneo` about agents. They are apart from what they run, so that `borneo --help` is quick."""
