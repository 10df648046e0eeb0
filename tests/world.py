"""The people of the tests, and how each of them reaches the server.

Alice administers. Bob's agent has a token for his own memory space. Carol's token may only read. Dora's agent is bound to
one workspace. Everybody comes through the highest door there is: REST, or the operation itself.
"""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import HttpResponse
from django.test import Client
from pydantic import BaseModel

from apps.accounts.keys import caller_for_token
from apps.accounts.models import User
from apps.accounts.services import token_create
from apps.operations.caller import Caller, Right
from apps.operations.operation import OPERATIONS
from apps.profiles.models import Profile
from apps.workspaces.models import Project

API = "/api/v1"
PASSWORD = "a long enough password"


def call(caller: Caller, name: str, /, **arguments: Any) -> BaseModel:
    """Perform an operation as any door would: arguments checked, answer in its shape."""
    return OPERATIONS[name].answer(caller, arguments)


class Rest:
    """REST as one agent or person uses it."""

    def __init__(self, token: str = "", client: Client | None = None) -> None:
        self.client = client or Client(raise_request_exception=False)
        self.headers = {"authorization": f"Bearer {token}"} if token else {}

    def get(self, path: str, /, **query: Any) -> HttpResponse:
        return self.client.get(API + path, query, headers=self.headers)

    def post(self, path: str, body: Any = None, /, **fields: Any) -> HttpResponse:
        return self.send("POST", path, body if body is not None else fields)

    def put(self, path: str, /, **fields: Any) -> HttpResponse:
        return self.send("PUT", path, fields)

    def patch(self, path: str, /, **fields: Any) -> HttpResponse:
        return self.send("PATCH", path, fields)

    def delete(self, path: str, /) -> HttpResponse:
        return self.client.delete(API + path, headers=self.headers)

    def send(self, method: str, path: str, body: Any, **extra: Any) -> HttpResponse:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {**self.headers, **extra.pop("headers", {})}
        return self.client.generic(method, API + path, raw, content_type="application/json", headers=headers, **extra)


def ok(response: HttpResponse, status: int = 200) -> Any:
    """What an answer says, once it is seen to have this status."""
    assert response.status_code == status, response.content
    return json.loads(response.content)


def save(rest: Rest, title: str, body: str, **fields: Any) -> Any:
    """Save a memory, and what is answered."""
    return ok(rest.post("/memories", title=title, body=body, **fields), 201)


@dataclass
class Agent:
    """Somebody with a token."""

    token: str

    @cached_property
    def rest(self) -> Rest:
        return Rest(self.token)

    @property
    def caller(self) -> Caller:
        return caller_for_token(self.token)

    def call(self, name: str, /, **arguments: Any) -> Any:
        return call(self.caller, name, **arguments)


class World:
    def __init__(self) -> None:
        self.operator = Caller.for_command("operator")

    @cached_property
    def alice(self) -> User:
        """Administers, signed in with ``PASSWORD``."""
        return User.objects.create_superuser("alice", password=PASSWORD)

    @cached_property
    def member(self) -> User:
        """Bob himself at the console: he may read and write, and has his own memory space."""
        return User.objects.create_user("bob", password=PASSWORD, profile=self.bobs_space)

    @cached_property
    def bobs_space(self) -> Profile:
        return Profile.objects.create(pk="bob", name="Bob")

    @cached_property
    def workspace(self) -> Project:
        made: Any = call(
            self.operator, "project_create", name="Relay", git_remote="https://git.example.org/team/relay.git"
        )
        return Project.objects.get(pk=made.project_id)

    @cached_property
    def alices_agent(self) -> Agent:
        return self.agent("alice's agent", rights=list(Right), toolset="full")

    @cached_property
    def bobs_agent(self) -> Agent:
        return self.agent("bob's agent", profile_id=self.bobs_space.pk)

    @cached_property
    def carols_reader(self) -> Agent:
        return self.agent("carol's reader", rights=[Right.READ])

    @cached_property
    def doras_agent(self) -> Agent:
        """Bound to ``workspace``."""
        return self.agent("dora's agent", project_id=self.workspace.pk)

    def agent(self, name: str, **arguments: Any) -> Agent:
        return Agent(token_create(self.operator, name=name, **arguments).token)

    def at_the_console(self, user: User) -> Rest:
        """Signed in, with the CSRF checks a browser meets switched off."""
        client = Client(raise_request_exception=False)
        client.force_login(user)
        return Rest(client=client)
