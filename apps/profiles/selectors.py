from collections.abc import Iterable
from datetime import datetime

from django.db.models import Count, Max

from apps.changes.models import Change
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation
from apps.profiles.errors import ProfileDisabled, ProfileNotFound
from apps.profiles.models import Profile
from apps.profiles.schemas import ProfileList, ProfileOut, ProfileToken, WithDisabled


def enabled_profile(profile_id: str) -> Profile:
    """The memory space something may be bound to. Profiles attribute and select, so anybody may name any (WS-047)."""
    profile = Profile.objects.filter(pk=profile_id).first()
    if profile is None:
        raise ProfileNotFound(profile_id=profile_id)
    if not profile.enabled:
        raise ProfileDisabled(profile_id=profile_id)
    return profile


@operation(needs=Right.READ, answers=ProfileList)
def usage_profile_list(caller: Caller, *, with_disabled: WithDisabled = True) -> ProfileList:
    """List the memory spaces: whose habits they hold, which tokens write there, and when they last changed.

    The tokens are named for administrators only.
    """
    profiles = Profile.objects.all() if with_disabled else Profile.objects.filter(enabled=True)
    return ProfileList(profiles=described(profiles, with_tokens=caller.administers and caller.project_id is None))


def described(profiles: Iterable[Profile], *, with_tokens: bool) -> list[ProfileOut]:
    """Three queries, however many memory spaces there are."""
    profiles = list(profiles)
    changed = _changes_by_profile(profiles)
    tokens = _tokens_by_profile() if with_tokens else {}
    return [
        ProfileOut(
            profile_id=profile.pk,
            name=profile.name,
            description=profile.description,
            enabled=profile.enabled,
            tokens=tokens.get(profile.pk, []),
            changes=changed[profile.pk][0] if profile.pk in changed else 0,
            last_changed_at=changed[profile.pk][1] if profile.pk in changed else None,
            created_at=profile.created_at,
            updated_at=profile.updated_at,
        )
        for profile in profiles
    ]


def _changes_by_profile(profiles: Iterable[Profile]) -> dict[str, tuple[int, datetime]]:
    scopes = {f"global/{profile.pk}" for profile in profiles}
    changes = (
        Change.objects.filter(scope_key__in=scopes).values("scope_key").annotate(count=Count("pk"), last=Max("at"))
    )
    return {row["scope_key"].removeprefix("global/"): (row["count"], row["last"]) for row in changes}


def _tokens_by_profile() -> dict[str, list[ProfileToken]]:
    # Tokens live a storey above; the relation leads there without an import.
    tokens = Profile.tokens.field.model._default_manager.filter(revoked_at=None).order_by("name", "pk")
    found: dict[str, list[ProfileToken]] = {}
    for token_id, name, profile_id in tokens.values_list("pk", "name", "profile_id"):
        found.setdefault(profile_id, []).append(ProfileToken(token_id=token_id, name=name))
    return found
