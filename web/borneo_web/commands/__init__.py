"""The commands of `borneo` for the browser. They are apart from what they run, so that `borneo --help` is quick."""
