"""Reads of the context room: what to read first, the agent prompt, and how clients are set up."""

from apps.context.selectors.clients import client_config_get
from apps.context.selectors.connector import fetch, search
from apps.context.selectors.context import context_get
from apps.context.selectors.prompt import agent_prompt_get

__all__ = ["agent_prompt_get", "client_config_get", "context_get", "fetch", "search"]
