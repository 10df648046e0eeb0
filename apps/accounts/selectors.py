from django.db.models import QuerySet

from apps.accounts.errors import TokenNotFound
from apps.accounts.models import McpToken
from apps.accounts.schemas import TokenList, TokenOut, TokenState, WithRevoked
from apps.base import clock
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation


def tokens_for(caller: Caller) -> QuerySet[McpToken]:
    """The tokens a caller may know of: all, or those of the workspace its connection is bound to."""
    tokens = McpToken.objects.all()
    return tokens if caller.project_id is None else tokens.filter(project_id=caller.project_id)


def token_for(caller: Caller, token_id: str) -> McpToken:
    """The only door to a token."""
    token = tokens_for(caller).filter(pk=token_id).first()
    if token is None:
        raise TokenNotFound(token_id=token_id)
    return token


@operation(needs=Right.ADMINISTER, answers=TokenList)
def token_list(caller: Caller, *, with_revoked: WithRevoked = False) -> TokenList:
    """List the tokens of agents: what each may do, where, and when it was last used. The token itself is never shown."""
    tokens = tokens_for(caller)
    if not with_revoked:
        tokens = tokens.filter(revoked_at=None)
    return TokenList(tokens=[described(token) for token in tokens])


def described(token: McpToken) -> TokenOut:
    return TokenOut(
        token_id=token.pk,
        name=token.name,
        hint=token.hint,
        state=state_of(token),
        profile_id=token.profile_id,
        project_id=token.project_id,
        toolset=token.toolset,
        rights=token.rights,
        made_by=token.made_by,
        created_at=token.created_at,
        expires_at=token.expires_at,
        revoked_at=token.revoked_at,
        last_used_at=token.last_used_at,
    )


def state_of(token: McpToken) -> TokenState:
    if token.revoked_at is not None:
        return TokenState.REVOKED
    if token.expires_at is not None and token.expires_at <= clock.now():
        return TokenState.EXPIRED
    return TokenState.ACTIVE
