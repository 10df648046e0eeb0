"""The floor: the least a memory server over MCP can cost with this SDK and SQLite. MemRelay is compared with it."""
