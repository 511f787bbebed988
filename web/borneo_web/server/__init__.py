"""Games that people play in a browser: tables, what each seat is shown of them, pages, and who may ask for what."""
