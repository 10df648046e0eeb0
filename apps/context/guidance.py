"""What is worth keeping in each type of workspace, told to agents in the caller's language."""

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.workspaces.models import WorkspaceType

GUIDANCE = {
    WorkspaceType.DEVELOPMENT: _(
        "Keep decisions with their reasons, conventions, architecture, commands that work, and pitfalls with their fix."
        " Read the source itself from the repository; save what it does not say. A checkpoint names branch, tests and open work."
    ),
    WorkspaceType.OFFICE: _(
        "Keep decisions, who asked for what and by when, contacts, rules and templates that hold, and the state of each matter."
        " A checkpoint names what was handed in, what is waited for and the next date."
    ),
    WorkspaceType.STUDY: _(
        "Keep what was understood, what was wrong and why, sources by chapter and page, and the plan."
        " A checkpoint names what was covered, what is still shaky and what to repeat next."
    ),
    WorkspaceType.RESEARCH: _(
        "Keep questions, hypotheses, findings with their evidence and source, methods, and what was ruled out."
        " Tell facts from guesses. A checkpoint names what was found, how sure it is and what to test next."
    ),
    WorkspaceType.PERSONAL: _(
        "Keep preferences, plans, appointments and facts that should not be asked for twice; save no more than is needed."
        " A checkpoint names what was arranged and what is still open."
    ),
    WorkspaceType.GENERAL: _(
        "Keep rules, facts, decisions and experience, one in each memory, with the reason."
        " A checkpoint names what is done, what is open and what comes next."
    ),
}


def guidance_for(workspace_type: str | None) -> str:
    """How to work in a workspace of this type; without one, how to come into one."""
    if workspace_type is None:
        return gettext(
            "No workspace is chosen: this is what holds everywhere. Call project_resolve_or_create with the Git remote,"
            " key or name of what you work on, then context_get with its project_id."
        )
    return str(GUIDANCE[WorkspaceType(workspace_type)])
