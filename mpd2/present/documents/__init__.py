"""What a meeting is handed: the same briefing as a page to read and as slides to edit."""
