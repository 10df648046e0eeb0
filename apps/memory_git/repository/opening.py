"""Reading a repository of ours; what a damaged one raises has a name."""

import logging
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from django.utils.translation import gettext_lazy as _
from dulwich.errors import FileFormatException, ObjectMissing
from dulwich.objects import Commit
from dulwich.repo import Repo

from apps.leases.errors import LockTaken
from apps.memory_git.errors import RepositoryBroken, RepositoryLocked
from apps.memory_git.models import MemoryRepository
from apps.memory_git.repository import local
from apps.memory_git.repository.objects import Staging
from apps.memory_git.repository.repositories import folder_of

logger = logging.getLogger(__name__)


@contextmanager
def sound(repository: MemoryRepository) -> Iterator[None]:
    """What a damaged repository raises becomes one failure with a name."""
    try:
        yield
    except LockTaken:
        raise RepositoryLocked(name=repository.name) from None
    except (KeyError, ValueError, ObjectMissing, FileFormatException, zlib.error) as damage:
        logger.exception("The repository %s is damaged.", repository.name)
        raise RepositoryBroken(name=repository.name, problem=_("an object is missing or damaged")) from damage


@contextmanager
def reading(repository: MemoryRepository) -> Iterator[tuple[Staging, Repo]]:
    with sound(repository), local.opened(folder_of(repository)) as repo:
        yield local.staging(repo), repo


def commit_object(repo: Repo, sha: str) -> Commit:
    found = repo[sha.encode()]
    assert isinstance(found, Commit)  # noqa: S101 - rows name commits
    return found
