"""How far a photograph is from those a classifier was trained on."""
