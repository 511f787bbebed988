"""What the games of an arena say: standings, strengths, how sure they are, and how many games a question needs."""
