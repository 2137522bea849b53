"""Long work in a process of its own: a job is a folder, a queue decides what runs, a worker does it."""
