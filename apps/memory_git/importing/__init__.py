"""What comes from a remote: looked at in a staging area, and taken in by choice or at a cold start."""
