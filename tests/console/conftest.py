"""Who looks at the pages."""

import pytest
from django.test import Client

from tests.console.looking import signed_in
from tests.world import World


@pytest.fixture
def alice(world: World) -> Client:
    """Administers."""
    return signed_in(world.alice)


@pytest.fixture
def bob(world: World) -> Client:
    """A member."""
    return signed_in(world.member)
