"""The agent prompt: how an agent should work with this server as it is set up now."""

from django.utils.translation import get_language

from apps.base.estimates import token_estimate
from apps.context.prompts import language_of, rendered
from apps.context.schemas import AgentPromptOut, PromptLanguage
from apps.memories.schemas import ProjectRef
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation
from apps.profiles.models import Profile
from apps.workspaces.selectors import project_for


@operation(needs=Right.READ, answers=AgentPromptOut)
def agent_prompt_get(caller: Caller, *, language: PromptLanguage = "", project_id: ProjectRef = "") -> AgentPromptOut:
    """Read how to work with this server: a short prompt for an agent's instructions, in English or Chinese.

    It tells of what is switched on, your tools, your memory space and, where one is bound or named, the workspace.
    """
    spoken = language_of(language or get_language() or caller.language)
    named = project_id or caller.project_id
    project = project_for(caller, named) if named else None
    profile = Profile.objects.filter(pk=caller.profile).first()
    text = rendered(spoken, caller, profile=profile, project=project)
    return AgentPromptOut(language=spoken, text=text, tokens=token_estimate(text))
