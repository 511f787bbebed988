"""The commands of this package: options only, so that `borneo --help` is quick."""
