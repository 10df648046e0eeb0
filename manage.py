#!/usr/bin/env python
"""MemRelay's command line: serve, token_create, perform, memory_import and Django's own."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memrelay.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
