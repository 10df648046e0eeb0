"""Who may enter: the administrator and members, their sessions, and the tokens of agents. It makes a ``Caller``."""
