"""Local repositories: their rows, their folders and objects, kept small, put into the archive."""
