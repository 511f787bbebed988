"""What scripted bots think with: the worth of goods, hands, ranks, ports and contests in points, one idea to a file."""
