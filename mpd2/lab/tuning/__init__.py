"""The paper's search for a better configuration: its space, its score, its study and what a study shows."""
