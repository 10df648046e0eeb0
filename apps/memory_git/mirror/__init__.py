"""How repositories stand to their Git server: connected, bound, pushed."""
