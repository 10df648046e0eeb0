"""The tables are brought up to the code's state before anything serves."""

from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def tables_are_current() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def migrate() -> bool:
    """Migrate if there is anything to migrate; say whether there was."""
    if tables_are_current():
        return False
    call_command("migrate", interactive=False, verbosity=0)
    return True
