"""What all charts are made with: style, labels, export, small shared charts."""
