from datetime import timedelta

from django.utils.translation import gettext as _

from apps.accounts.errors import TokenNotFound, WorkspaceNotFound
from apps.accounts.keys import HINT_CHARACTERS, digest_of, new_token
from apps.accounts.models import McpToken, User
from apps.accounts.schemas import (
    ExpiresDays,
    Replace,
    TokenId,
    TokenIds,
    TokenList,
    TokenMade,
    TokenName,
    TokenOut,
    TokenProfile,
    TokenProject,
    TokenRights,
    TokenToolset,
)
from apps.accounts.selectors import described, token_for, tokens_for
from apps.base import clock
from apps.base.errors import Invalid
from apps.base.ids import new_id
from apps.base.text import clean_line
from apps.base.transactions import short_transaction
from apps.operations.caller import SHARED_PROFILE, Caller, Right
from apps.operations.operation import Effect, operation
from apps.operations.reach import workspace_of_call
from apps.profiles.schemas import ProfileId
from apps.profiles.selectors import enabled_profile


@operation(needs=Right.ADMINISTER, answers=TokenMade, effect=Effect.ADDS)
def token_create(
    caller: Caller,
    *,
    name: TokenName,
    profile_id: TokenProfile = SHARED_PROFILE,
    project_id: TokenProject | None = None,
    toolset: TokenToolset = "agent",
    rights: TokenRights = [Right.READ, Right.WRITE],  # noqa: B006 - never changed, and the schema shows it.
    expires_days: ExpiresDays | None = None,
) -> TokenMade:
    """Make a token for an agent. The answer shows it once; only its digest is kept."""
    title = clean_line(name)
    if not title:
        raise Invalid(fields={"name": _("This is required.")})
    project_id = workspace_of_call(caller, project_id)
    token = new_token()
    now = clock.now()
    with short_transaction():
        profile = enabled_profile(profile_id)
        _check_workspace(project_id)
        made = McpToken.objects.create(
            id=new_id("tok"),
            name=title,
            digest=digest_of(token),
            hint=token[:HINT_CHARACTERS],
            profile=profile,
            project_id=project_id,
            toolset=toolset,
            rights=[right.value for right in Right if right in rights],
            made_by=caller.name,
            created_at=now,
            expires_at=now + timedelta(days=expires_days) if expires_days else None,
        )
    return TokenMade(token=token, **dict(described(made)))


@operation(needs=Right.ADMINISTER, answers=TokenOut, effect=Effect.DESTROYS, repeatable=True)
def token_revoke(caller: Caller, *, token_id: TokenId) -> TokenOut:
    """Revoke a token: it opens nothing from the next call on, and can't be brought back."""
    token = token_for(caller, token_id)
    McpToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=clock.now())
    token.refresh_from_db()
    return described(token)


@operation(needs=Right.ADMINISTER, answers=TokenList, effect=Effect.CHANGES, repeatable=True)
def usage_profile_token_bind(
    caller: Caller, *, profile_id: ProfileId, token_ids: TokenIds, replace: Replace = False
) -> TokenList:
    """Bind tokens to a memory space: what their agents save from now on belongs there. Rights stay as they are."""
    with short_transaction():
        profile = enabled_profile(profile_id)
        within_reach = tokens_for(caller)
        known = set(within_reach.filter(pk__in=token_ids).values_list("pk", flat=True))
        for token_id in token_ids:
            if token_id not in known:
                raise TokenNotFound(token_id=token_id)
        if replace:
            within_reach.filter(profile=profile).exclude(pk__in=known).update(profile_id=SHARED_PROFILE)
        within_reach.filter(pk__in=known).update(profile=profile)
        bound = within_reach.filter(profile=profile, revoked_at=None)
        return TokenList(tokens=[described(token) for token in bound])


def revoke_tokens_of(project_id: str) -> int:
    """Revoke every token that is bound to a workspace which ends."""
    return McpToken.objects.filter(project_id=project_id, revoked_at=None).update(revoked_at=clock.now())


def rebind_tokens_of(project_id: str, to: str) -> int:
    """Bind the tokens of a workspace that was merged to the one it went into, revoked ones too."""
    return McpToken.objects.filter(project_id=project_id).update(project_id=to)


def leave_profile(profile_id: str, to: str) -> None:
    """Let everybody who works in a memory space that ends work in another one."""
    McpToken.objects.filter(profile_id=profile_id).update(profile_id=to)
    User.objects.filter(profile_id=profile_id).update(profile_id=to)


def _check_workspace(project_id: str | None) -> None:
    # Workspaces are neighbours; the relation leads there without an import.
    projects = McpToken.project.field.related_model._default_manager
    if project_id is not None and not projects.filter(pk=project_id, deleted_at=None).exists():
        raise WorkspaceNotFound(project_id=project_id)
