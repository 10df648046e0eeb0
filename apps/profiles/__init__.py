"""Memory spaces: whose habits these are. A profile attributes and selects; it is no permission system."""
