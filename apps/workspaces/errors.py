from django.utils.translation import gettext_lazy as _

from apps.base.errors import Denied, MemRelayError, NotFound


class ProjectNotFound(NotFound):
    sentence = _("There is no workspace {project}.")
    hint = _("project_list names those there are; project_resolve_or_create makes one.")


class NothingMatches(NotFound):
    sentence = _("No workspace matches.")
    hint = _("project_resolve_or_create makes one; project_list names those there are.")


class WorkspaceArchived(MemRelayError):
    code = "WORKSPACE_ARCHIVED"
    status = 409
    sentence = _("The workspace {project_id} is archived and takes no changes; nothing was written.")
    hint = _("Reading goes on. project_unarchive takes it out of the archive.")


class WorkspaceDeleted(MemRelayError):
    code = "WORKSPACE_DELETED"
    status = 409
    sentence = _("The workspace {project_id} was deleted and takes no changes; nothing was written.")
    hint = _("Its history can still be read. project_resolve_or_create makes a new workspace.")


class ProjectTaken(MemRelayError):
    """Slug, external key and remote each name one workspace."""

    code = "PROJECT_TAKEN"
    status = 409
    sentence = _("Another workspace has this {field} already.")
    hint = _("project_resolve finds it; project_resolve_or_create answers it instead of refusing.")


class ProjectChanged(MemRelayError):
    code = "REVISION_CONFLICT"
    status = 409
    sentence = _("The workspace has changed: you read revision {given}, now it is {current}.")
    hint = _("Read it again with project_get and repeat the change with its revision.")


class BoundElsewhere(Denied):
    code = "WORKSPACE_MISMATCH"
    sentence = _("This connection is bound to one workspace and makes no other.")
    hint = _("Use a token that is not bound to a workspace.")
