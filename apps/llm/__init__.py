"""The one external model connection: addresses, protocols, probing, retries, budgets, health and call records.

Everything that wants words from a model calls ``port.generate``; nothing else talks to the endpoint. The ``openai``
client is imported by the first call, not before: a server without a connection never loads it.
"""
