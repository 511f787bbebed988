"""The game in a browser: replays in one file, and games that people play there."""
