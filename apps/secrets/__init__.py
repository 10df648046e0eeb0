"""Detection and redaction of secrets: pure rules, and the values other rooms know.

Nothing here remembers, logs or repeats a secret: a finding says where one stands, never what it is.
"""
