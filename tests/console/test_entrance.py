"""Coming in: nobody without a session, nothing before the one-time password is gone, slowly for those who guess."""

import pytest
from django.conf import settings
from django.test import Client

from apps.accounts.models import User
from tests.world import PASSWORD, World

pytestmark = pytest.mark.django_db

NEW_PASSWORD = "an owl counts the lanterns"


@pytest.fixture
def newcomer(world: World) -> User:
    """The administrator of a first start."""
    return User.objects.create_superuser("admin", password=PASSWORD, must_change_password=True)


def sign_in(client: Client, name: str, password: str = PASSWORD, **more: str) -> object:
    return client.post("/sign-in", {"username": name, "password": password, **more})


def test_a_stranger_is_sent_to_sign_in_and_back(client: Client, world: World) -> None:
    response = client.get("/memories?kind=rule")
    assert response.headers["Location"] == "/sign-in?next=%2Fmemories%3Fkind%3Drule"
    assert (
        client.post(response.headers["Location"], {"username": world.alice.username, "password": PASSWORD}).headers[
            "Location"
        ]
        == "/memories?kind=rule"
    )
    assert client.get("/memories").status_code == 200


def test_a_stranger_within_a_page_is_sent_there_as_a_whole(client: Client, db: None) -> None:
    response = client.get("/memories", headers={"HX-Request": "true"})
    assert response.headers["HX-Redirect"] == "/sign-in"


@pytest.mark.parametrize(
    "wanted", ["https://elsewhere.example/", "//elsewhere.example", "javascript:alert(1)", "\\\\elsewhere"]
)
def test_signing_in_leads_to_no_other_host(client: Client, world: World, wanted: str) -> None:
    response = sign_in(client, world.alice.username, next=wanted)
    assert response.headers["Location"] == "/"  # type: ignore[attr-defined]


def test_a_wrong_password_says_neither_that_the_name_exists_nor_that_it_does_not(client: Client, world: World) -> None:
    known = sign_in(client, world.alice.username, "wrong").content.decode()  # type: ignore[attr-defined]
    unknown = sign_in(client, "nobody", "wrong").content.decode()  # type: ignore[attr-defined]
    assert "The name or the password is wrong." in known
    assert "The name or the password is wrong." in unknown


def test_too_many_guesses_make_a_pause_that_a_right_password_does_not_end(client: Client, world: World) -> None:
    for _ in range(settings.SIGN_IN_TRIES):
        sign_in(client, world.alice.username, "wrong")
    response = sign_in(client, world.alice.username)
    assert response.status_code == 429  # type: ignore[attr-defined]
    page = response.content.decode()  # type: ignore[attr-defined]
    assert "Too many attempts failed." in page
    assert "disabled" in page


def test_a_one_time_password_opens_nothing_but_its_change(client: Client, newcomer: User) -> None:
    sign_in(client, newcomer.username)
    for path in ("/", "/memories", "/tokens", "/memory/x/edit"):
        assert client.get(path).headers["Location"] == "/password"
    assert client.post("/memory/x/delete").headers["Location"] == "/password"
    page = client.get("/password").content.decode()
    assert "You signed in with a one-time password." in page

    wrong = {"old_password": "no", "new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD}
    assert "This is not your current password." in client.post("/password", wrong).content.decode()
    apart = {"old_password": PASSWORD, "new_password1": NEW_PASSWORD, "new_password2": "another one here"}
    assert "The two new passwords differ." in client.post("/password", apart).content.decode()
    weak = {"old_password": PASSWORD, "new_password1": "password", "new_password2": "password"}
    assert "too common" in client.post("/password", weak).content.decode()

    right = {"old_password": PASSWORD, "new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD}
    assert client.post("/password", right).headers["Location"] == "/"
    assert client.get("/").status_code == 200


def test_signing_out_takes_a_post(client: Client, world: World) -> None:
    client.force_login(world.alice)
    assert client.get("/sign-out").status_code == 405
    assert client.post("/sign-out").headers["Location"] == "/sign-in"
    assert client.get("/").status_code == 302


def test_a_form_without_its_token_changes_nothing(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.alice)
    for path in ("/sign-out", "/memory/x/delete", "/profile", "/appearance", "/memories/preview", "/tokens/new"):
        response = client.post(path)
        assert response.status_code == 403, path
        assert "This form has expired" in response.content.decode()


def test_a_look_is_remembered_without_script(client: Client, world: World) -> None:
    client.force_login(world.alice)
    response = client.post("/appearance", {"theme": "dark", "next": "/workspaces"})
    assert response.headers["Location"] == "/workspaces"
    assert 'data-theme="dark"' in client.get("/").content.decode()
    client.post("/appearance", {"theme": '"><script>'})
    assert "data-theme" not in client.get("/").content.decode().partition("<head>")[0]


def test_a_language_is_remembered(client: Client, world: World) -> None:
    client.force_login(world.alice)
    client.post("/i18n/setlang/", {"language": "zh-hans", "next": "/"})
    page = client.get("/").content.decode()
    assert '<html lang="zh-Hans"' in page
    assert "概览" in page


def test_a_person_chooses_among_their_own_memory_spaces(client: Client, world: World) -> None:
    client.force_login(world.member)
    page = client.get("/").content.decode()
    assert '<option value="bob"' in page
    assert client.post("/profile", {"profile": "bob", "next": "/memories"}).headers["Location"] == "/memories"
    assert '<option value="bob" selected' in client.get("/").content.decode()
    response = client.post("/profile", {"profile": "carol"}, follow=True)
    assert "You may choose your own memory space or shared." in response.content.decode()
