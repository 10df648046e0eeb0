"""Failures of memories that a caller can act on."""

from django.utils.translation import gettext_lazy as _

from apps.base.errors import Denied, MemRelayError, NotFound


class MemoryUnknown(NotFound):
    code = "MEMORY_NOT_FOUND"
    sentence = _("There is no memory {memory_id} here.")
    hint = _("Look it up with memory_search or memory_list; deleted memories stand in the trash.")


class RevisionUnknown(NotFound):
    code = "REVISION_NOT_FOUND"
    sentence = _("{memory_id} has no revision {revision}.")
    hint = _("memory_history lists the revisions there are.")


class ScopeUnknown(NotFound):
    code = "SCOPE_NOT_FOUND"
    sentence = _("There is no scope {scope} here.")
    hint = _("A scope is global/<profile>, project/<workspace id> or library.")


class CheckpointUnknown(NotFound):
    code = "CHECKPOINT_NOT_FOUND"
    sentence = _("There is no checkpoint {checkpoint_id} here.")
    hint = _("checkpoint_list lists them.")


class JobUnknown(NotFound):
    code = "JOB_NOT_FOUND"
    sentence = _("There is no job {job_id} here.")
    hint = _("job_list lists those there are.")


class JobOver(MemRelayError):
    code = "JOB_OVER"
    status = 409
    sentence = _("The job {job_id} is {state}; nothing is left to do.")
    hint = _("Start a new one; an import does nothing twice.")


class TitleTaken(MemRelayError):
    code = "TITLE_TAKEN"
    status = 409
    sentence = _("A memory called “{title}” already exists here: {memory_id}.")
    hint = _("Change it with memory_update or memory_append, choose another title, or save with if_exists=new.")


class PathTaken(MemRelayError):
    code = "PATH_TAKEN"
    status = 409
    sentence = _("Another memory already lies at {path}.")
    hint = _("Choose another path, or leave it out.")


class RevisionConflict(MemRelayError):
    """The text changed since the caller read it; nothing was written."""

    code = "REVISION_CONFLICT"
    status = 409
    sentence = _("{memory_id} is at revision {current}, not {given}; nothing was written.")
    hint = _("Read it again with memory_get, redo the change on that text, and send its revision.")


class HeadConflict(MemRelayError):
    code = "HEAD_CONFLICT"
    status = 409
    sentence = _("The scope is at version {current}, not {given}; nothing was written.")
    hint = _("Read the scope again and redo the change.")


class FileUnsettled(MemRelayError):
    code = "FILE_UNSETTLED"
    status = 409
    retryable = True
    sentence = _("The file of {memory_id} is being edited outside right now; nothing was written.")
    hint = _("Try again in a few seconds.")


class WrongState(MemRelayError):
    code = "WRONG_STATE"
    status = 409
    sentence = _("{memory_id} is {status}; this cannot be done with it.")
    hint = _("Archived memories come back with memory_unarchive, deleted ones with memory_restore.")


class WrongResource(MemRelayError):
    """L-17: checkpoints and curated documents have deeds of their own."""

    code = "WRONG_RESOURCE"
    status = 409
    sentence = _("{memory_id} is a {resource}; it cannot be moved, archived or deleted as a memory.")
    hint = _("Checkpoints stay as the record of progress; curated documents are changed by curation.")


class PathRefused(MemRelayError):
    code = "PATH_REFUSED"
    status = 422
    sentence = _("The path {path} cannot be used: {reason}")
    hint = _("Use a relative path with forward slashes that ends in .md, or leave it out.")


class ReviewNeeded(Denied):
    code = "REVIEW_NEEDED"
    sentence = _("{scope} takes changes through review only.")
    hint = _("Prepare a draft; a person approves it in the console.")


class OutsideAlarm(MemRelayError):
    code = "NO_ALARM"
    status = 409
    sentence = _("{scope} has no alarm to decide on.")


class FolderRefused(MemRelayError):
    code = "FOLDER_REFUSED"
    status = 422
    sentence = _("The folder cannot be used: {reason}")
    hint = _(
        "Name a folder that MEMRELAY_IMPORT_FOLDERS allows, or use the commands memory_import and memory_export on the server."
    )
