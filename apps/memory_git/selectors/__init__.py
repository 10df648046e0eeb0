"""Memory Git as callers read it: settings, repositories, history, differences and versions. Reading goes on while it is off."""

from apps.memory_git.selectors.differences import memory_repository_commit_get, memory_repository_diff
from apps.memory_git.selectors.history import memory_repository_history
from apps.memory_git.selectors.jobs import git_job_get
from apps.memory_git.selectors.repositories import memory_repository_list, memory_repository_status
from apps.memory_git.selectors.settings import git_settings_get
from apps.memory_git.selectors.versions import memory_version_get

__all__ = [
    "git_job_get",
    "git_settings_get",
    "memory_repository_commit_get",
    "memory_repository_diff",
    "memory_repository_history",
    "memory_repository_list",
    "memory_repository_status",
    "memory_version_get",
]
