"""The product: profile a table, compare methods honestly, rank the cases to check, explain them, report."""
