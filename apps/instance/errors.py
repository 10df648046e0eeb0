from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError


class CannotListen(MemRelayError):
    code = "CANNOT_LISTEN"
    status = 500
    sentence = _("Port {port} of {host} cannot be opened.")
    hint = _("Choose another with --host and --port, or with MEMRELAY_HOST and MEMRELAY_PORT.")


class ServerRuns(MemRelayError):
    code = "SERVER_RUNS"
    status = 409
    sentence = _("A server runs on this data folder, so nothing was rebuilt.")
    hint = _("Stop it first: what it writes meanwhile would be lost.")


class WorkUnderWay(MemRelayError):
    code = "JOBS_UNDER_WAY"
    status = 409
    sentence = _("A job is under way here ({job_ids}), so nothing was changed.")
    hint = _("Wait until it has ended, or end it with job_stop or curation_cancel.")


class InstanceNotEmpty(MemRelayError):
    code = "INSTANCE_NOT_EMPTY"
    status = 409
    sentence = _("A cold start needs an instance without documents, workspaces and Git history, and Memory Git off.")
    hint = _("For an instance that is in use there are memory_remote_inspect and memory_remote_import.")


class DatabaseThere(MemRelayError):
    code = "DATABASE_THERE"
    status = 409
    sentence = _("The data folder has a database, so nothing was rebuilt.")
    hint = _("With --force it is moved aside and a new one is made. What only the old one holds is missing then.")
