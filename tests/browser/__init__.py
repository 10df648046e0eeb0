"""The console in a real browser, before a genuine server. These tests run in a pytest process of their own (D-44)."""
