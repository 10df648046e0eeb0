"""Whether Memory Git is on, and what was chosen."""

from django.db import connection

from apps.memory_git.models import GitSettings, MemoryRepository, RepositoryStatus

_CHOSEN = "SELECT enabled, strategy FROM memory_git_gitsettings WHERE id = 1"


def is_enabled() -> bool:
    """The switch of ``Feature.MEMORY_GIT``."""
    return strategy_if_on() != ""


def strategy_if_on() -> str:
    """The strategy, or nothing while Git is off: asked on every write, inside its transaction."""
    with connection.cursor() as cursor:
        cursor.execute(_CHOSEN)
        row = cursor.fetchone()
    return str(row[1]) if row and row[0] else ""


def chosen() -> GitSettings:
    """What was chosen, or how it is before anybody chose. Reading it makes no row (GIT-002)."""
    return GitSettings.objects.filter(pk=1).first() or GitSettings()


def red_repositories() -> int:
    """How many need a person's look."""
    fine = (RepositoryStatus.READY, RepositoryStatus.WAITING_REMOTE)
    return MemoryRepository.objects.filter(archived_at=None).exclude(status__in=fine).count()
