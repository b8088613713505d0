"""Statements with a bar that is neither time nor memory nor a comparison of methods, shown on real data."""
