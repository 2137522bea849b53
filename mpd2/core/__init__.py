"""The nouns and tools that everything else is made of; imports nothing of ours."""
