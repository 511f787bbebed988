"""Games by the thousand: batches, their files, and functions over arrays of records."""
