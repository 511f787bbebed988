"""Environments of any game: PettingZoo's, and Gymnasium's of one seat, singly and by the thousand."""
