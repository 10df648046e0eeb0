from django.utils.translation import gettext as _

from apps.base import clock
from apps.base.errors import Denied, Invalid, NotFound
from apps.base.ids import new_id
from apps.base.text import DEVICE_NAMES, clean_line, slug_for, with_suffix
from apps.base.transactions import short_transaction
from apps.changes.models import Change
from apps.changes.services import record
from apps.operations.caller import SHARED_PROFILE, Caller, Right
from apps.operations.operation import Effect, operation
from apps.profiles.errors import ProfileDisabled, SharedStays
from apps.profiles.models import Profile
from apps.profiles.schemas import BoundToken, ProfileDescription, ProfileEnabled, ProfileId, ProfileName, ProfileOut
from apps.profiles.selectors import described


@operation(needs=Right.ADMINISTER, answers=ProfileOut, effect=Effect.CHANGES)
def usage_profile_save(
    caller: Caller,
    *,
    profile_id: ProfileId | None = None,
    name: ProfileName | None = None,
    description: ProfileDescription | None = None,
    enabled: ProfileEnabled | None = None,
    token_id: BoundToken | None = None,
) -> ProfileOut:
    """Make a memory space or change one; what you leave out stays as it is.

    A profile_id that is not there yet makes a new space and then needs a name; so does leaving profile_id out. Disabling a
    space hides it from new choices and leaves its memories and its tokens alone. shared cannot be disabled.
    """
    if caller.project_id is not None:
        raise Denied(_("A connection bound to one workspace does not administer memory spaces."), verb="administer")
    if profile_id == SHARED_PROFILE and enabled is False:
        raise SharedStays()
    told = {"name": name and clean_line(name), "description": description, "enabled": enabled}
    changes: dict[str, object] = {field: value for field, value in told.items() if value is not None}
    if changes.get("name") == "":
        raise Invalid(fields={"name": _("This is required.")})
    with short_transaction():
        profile = _saved(profile_id, changes)
        if token_id is not None:
            _bind(token_id, profile)
        return described([profile], with_tokens=True)[0]


def end(caller: Caller, profile: Profile) -> None:
    """Take a memory space away, inside the caller's transaction. Nobody may work in it any more."""
    change = Change(
        kind="profile.deleted",
        scope_key=f"global/{profile.pk}",
        resource="profile",
        stable_id=profile.pk[:40],
        origin=caller.origin,
        actor=caller.name[:120],
        profile=caller.profile,
        at=clock.now(),
    )
    profile.delete()
    record([change])


def _saved(profile_id: str | None, changes: dict[str, object]) -> Profile:
    profile = Profile.objects.filter(pk=profile_id).first() if profile_id else None
    if profile is None:
        return _made(profile_id, changes)
    for field, value in changes.items():
        setattr(profile, field, value)
    profile.updated_at = clock.now()
    profile.save(update_fields=[*changes, "updated_at"])
    return profile


def _made(profile_id: str | None, changes: dict[str, object]) -> Profile:
    if "name" not in changes:
        raise Invalid(fields={"name": _("A new memory space needs a name.")})
    if profile_id in DEVICE_NAMES:
        raise Invalid(fields={"profile_id": _("Windows keeps this name for a device.")})
    if profile_id and _was_deleted(profile_id):
        raise Invalid(fields={"profile_id": _("This was a memory space that is deleted; its history stays its own.")})
    return Profile.objects.create(pk=profile_id or _free_id(str(changes["name"])), **changes)


def _free_id(name: str) -> str:
    """A readable id where the name is written in Latin letters, else an opaque one: the id also names a folder."""
    slug = slug_for(name)
    if not slug.isascii():
        return new_id("space").replace("_", "-")
    number = 1
    while _is_known(with_suffix(slug, number)):
        number += 1
    return with_suffix(slug, number)


def _is_known(profile_id: str) -> bool:
    return Profile.objects.filter(pk=profile_id).exists() or _was_deleted(profile_id)


def _was_deleted(profile_id: str) -> bool:
    return Change.objects.filter(kind="profile.deleted", scope_key=f"global/{profile_id}").exists()


def _bind(token_id: str, profile: Profile) -> None:
    if not profile.enabled:
        raise ProfileDisabled(profile_id=profile.pk)
    # Tokens live a storey above; the relation leads there without an import.
    tokens = Profile.tokens.field.model._default_manager
    if not tokens.filter(pk=token_id, revoked_at=None).update(profile=profile):
        raise NotFound(_("There is no token {token_id}."), token_id=token_id)
