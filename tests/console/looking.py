"""How the tests of the pages look at one."""

from typing import Any

from django.test import Client

from apps.accounts.models import User


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def text_of(client: Client, path: str, **query: Any) -> str:
    response = client.get(path, query)
    assert response.status_code == 200, (path, response.status_code)
    return response.content.decode()


def sent(client: Client, path: str, **fields: Any) -> str:
    """What stands on the page after a form was sent."""
    response = client.post(path, fields, follow=True)
    assert response.status_code == 200, (path, response.status_code)
    return response.content.decode()
