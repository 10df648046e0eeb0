"""The change between one repository for everything and one for each scope: planned, made anew beside the old ones, moved."""
