"""The agent prompt's texts, one file a language, filled in with what is on."""

import re
from pathlib import Path

from django.template import Context, Engine
from django.utils import translation
from django.utils.translation import gettext as _

from apps.base.errors import Invalid
from apps.context.guidance import guidance_for
from apps.operations.caller import SHARED_PROFILE, Caller, Right
from apps.operations.features import Feature, is_on
from apps.operations.served import served_tools, tools_of
from apps.profiles.models import Profile
from apps.workspaces.models import Project

LANGUAGES = ("en", "zh-hans")
ENGINE = Engine(dirs=[str(Path(__file__).parent)], autoescape=False)
NAME_CHARACTERS = 60
OPENED_BY = "tool_run"


def language_of(spoken: str) -> str:
    """One of the prompt's languages: any Chinese is Simplified Chinese. Raises ``Invalid`` for what there is none of."""
    code = spoken.strip().lower().replace("_", "-")
    if re.fullmatch(r"zh(-[a-z]+)*|chinese|中文|简体中文", code):
        return "zh-hans"
    if re.fullmatch(r"en(-[a-z0-9]+)*|english|英文", code):
        return "en"
    raise Invalid(fields={"language": _("This must be one of {expected}.").format(expected=", ".join(LANGUAGES))})


def rendered(language: str, caller: Caller, *, profile: Profile | None, project: Project | None) -> str:
    """The prompt for one caller. Tools the toolset does not list are named only where ``tool_run`` reaches them."""
    listed, served = tools_of(caller.toolset), served_tools()
    reached = served if OPENED_BY in listed else listed
    with translation.override(language):
        context = Context(
            {
                "has": dict.fromkeys(reached, True),
                "is_lean": len(listed) < len(served),
                "curation": is_on(Feature.CURATION),
                "memory_git": is_on(Feature.MEMORY_GIT),
                "may_write": caller.may(Right.WRITE),
                "profile_id": caller.profile,
                "profile_name": profile.name[:NAME_CHARACTERS] if profile else caller.profile,
                "has_own_space": caller.profile != SHARED_PROFILE,
                "project": project,
                "project_name": project.name[:NAME_CHARACTERS] if project else "",
                "guidance": guidance_for(project.workspace_type) if project else "",
            }
        )
        text = ENGINE.get_template(f"agent.{language}.md").render(context)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
