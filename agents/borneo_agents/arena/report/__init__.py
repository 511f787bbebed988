"""What came of an arena: tables, and how the terminal and a page show them."""
