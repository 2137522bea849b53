"""Who may do what, and what was done: identity, roles, and a record that shows tampering."""
