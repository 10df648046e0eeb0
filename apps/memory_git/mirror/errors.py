from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError


class ConnectionMissing(MemRelayError):
    code = "GIT_CONNECTION_MISSING"
    status = 409
    sentence = _("No Git server is connected.")
    hint = _("An administrator connects one with git_connection_save; local history works without it.")


class ConnectionChanged(MemRelayError):
    code = "GIT_CONNECTION_CHANGED"
    status = 409
    sentence = _("The connection was changed meanwhile; its revision is {revision}.")
    hint = _("Read it again with git_connection_get, then save with that revision.")


class RepositoryUnbound(MemRelayError):
    code = "GIT_REPOSITORY_UNBOUND"
    status = 409
    sentence = _("The repository {name} has no remote.")
    hint = _("Bind it with memory_repository_bind; local history works without it.")


class RemoteNotEmpty(MemRelayError):
    code = "GIT_REMOTE_NOT_EMPTY"
    status = 409
    sentence = _("The branch {branch} at {url} has commits that this history does not have.")
    hint = _("Bind an empty repository. Nothing at the server was changed.")


class NotInspected(MemRelayError):
    code = "GIT_REMOTE_NOT_INSPECTED"
    status = 409
    sentence = _("The commit {commit} of the remote was not inspected, or the remote has been inspected again since.")
    hint = _("Look at it with memory_remote_inspect first; its result names the commit.")


class FolderNotEmpty(MemRelayError):
    code = "MEMORIES_NOT_EMPTY"
    status = 409
    sentence = _("The memories folder has documents or a history already, so nothing was brought in.")
    hint = _("Bootstrap an empty data folder; for one that is in use there is memory_remote_import.")


class RemoteBranchMissing(MemRelayError):
    code = "GIT_REMOTE_BRANCH_MISSING"
    status = 404
    sentence = _("There is no branch {branch} at {url}.")
    hint = _("Name the branch that holds the memories with --branch.")
