"""What the server says beside the pages: headers of every answer, and numbers for whoever watches it."""
