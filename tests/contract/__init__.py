"""What the outside relies on: committed copies that change only when somebody means it."""
