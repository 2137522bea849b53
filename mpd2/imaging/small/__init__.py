"""Small networks trained on rendered photographs, so that the whole way can be walked."""
