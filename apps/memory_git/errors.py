from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError, NotFound


class RepositoryUnknown(NotFound):
    sentence = _("There is no memory repository {repository_id} here.")
    hint = _("memory_repository_list names those there are.")


class CommitUnknown(NotFound):
    sentence = _("There is no commit {commit} here.")
    hint = _("memory_repository_history lists commits; give at least 7 characters of one.")


class VersionUnknown(NotFound):
    sentence = _("There is no version of {resource_id} in commit {commit}.")
    hint = _("memory_repository_history with resource_id lists the commits that hold it.")


class DeedUnknown(NotFound):
    sentence = _("There is no Git job {job_id} here.")


class NestedRepository(MemRelayError):
    """Somebody's repository lies where ours would be, above or below: one inside the other is never made (GIT-018)."""

    code = "NESTED_REPOSITORY"
    status = 409
    sentence = _("A Git repository that is not MemRelay's already lies at {place} of the memories folder.")
    hint = _("Move its .git away, then try again. Nothing was changed.")


class RepositoryBroken(MemRelayError):
    """The local repository is not as its rows say: red, until a person looks."""

    code = "LOCAL_REPOSITORY_ERROR"
    status = 409
    sentence = _("The local repository {name} cannot be committed to: {problem}.")
    hint = _(
        "Memories are saved all the same. memory_repository_status tells more; switching Git off and on repairs it."
    )


class RepositoryLocked(MemRelayError):
    """Another program holds Git's own lock; it is tried again."""

    code = "REPOSITORY_LOCKED"
    status = 423
    retryable = True
    sentence = _("Another program is working in the repository {name}.")
    hint = _("It is tried again by itself; a lock that nobody holds any more is removed after a minute.")


class FilePending(MemRelayError):
    """A file of the operation cannot be written now, and Git never shows what the folder lacks (L-21)."""

    code = "FILE_PENDING"
    status = 409
    retryable = True
    sentence = _("A file in {scope} cannot be written yet, so its commit waits.")
    hint = _("The console's alarms name what is in the way.")


class UnsafeTree(MemRelayError):
    """A tree from outside that must not come in. ``problem`` is one of a closed list; ``path`` says where."""

    code = "UNSAFE_TREE"
    status = 422
    sentence = _("The tree is refused: {problem} at {path}.")
    hint = _("Nothing was changed. Mend what is named in the repository it comes from, and commit there.")


class DeedUnderWay(MemRelayError):
    code = "GIT_JOB_UNDER_WAY"
    status = 409
    retryable = True
    sentence = _("Another Git job is under way: {job_id}.")
    hint = _("Wait for it: git_job_get tells how far it is.")


class GitAtWork(MemRelayError):
    code = "GIT_AT_WORK"
    status = 423
    retryable = True
    sentence = _("Work on the repositories is under way, so none can be made now.")
    hint = _("Try again in a minute. A workspace gets its repository by itself, too, with its next commit.")


class StrategyUnchanged(MemRelayError):
    code = "GIT_STRATEGY_UNCHANGED"
    status = 409
    sentence = _("The strategy is {strategy} already.")


class PlanChanged(MemRelayError):
    """What was confirmed is not what would happen now."""

    code = "GIT_PLAN_CHANGED"
    status = 409
    sentence = _("The plan has changed since it was shown.")
    hint = _("Look at the plan once more, then confirm it.")


class NotArchived(MemRelayError):
    code = "GIT_NOT_ARCHIVED"
    status = 409
    sentence = _("The repository {repository_id} is in use; only that of a deleted workspace can be purged.")
    hint = _("Delete the workspace first: its repository moves to the archive.")


class UnderOwnCommit(MemRelayError):
    """A deed needs everything committed first, and something holds that up."""

    code = "GIT_COMMITS_WAITING"
    status = 409
    retryable = True
    sentence = _("{count} commits still wait in the repository, so this cannot be done now.")
    hint = _("memory_repository_status tells what they wait for.")


class StrategyNeedsPlan(MemRelayError):
    code = "GIT_STRATEGY_NEEDS_PLAN"
    status = 409
    sentence = _("There are repositories of the strategy {strategy} already.")
    hint = _("memory_repository_migrate_plan shows what changing it would do; memory_repository_migrate does it.")


class RepositoryArchived(MemRelayError):
    code = "GIT_REPOSITORY_ARCHIVED"
    status = 409
    sentence = _("The repository {repository_id} belongs to a deleted workspace: it can be read, not written.")
    hint = _("memory_version_restore with to_project_id brings a document of it into another workspace.")
