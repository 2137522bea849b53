"""The kinds of files that tables come in: text with separators, and workbooks."""
