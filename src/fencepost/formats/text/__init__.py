"""What all readers of text share: source positions, the parser and its tables, syntax trees."""
