"""The two tools that ChatGPT's connectors and deep research ask of a server, in exactly the shapes they ask for.

Both take one text. What they answer can be cited, since every ``url`` is a page of the console.
"""

from django.urls import reverse

from apps.context.addresses import server_address
from apps.context.schemas import ConnectorHit, ConnectorHits, ConnectorQuery, ConnectorText, FoundId
from apps.memories.doors import memory_for
from apps.memories.reading import current, shown
from apps.memories.selectors import memory_search
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation
from apps.search.errors import EmptyQuery

MOST_HITS = 10


@operation(needs=Right.READ, answers=ConnectorHits)
def search(caller: Caller, *, query: ConnectorQuery) -> ConnectorHits:
    """Search memories, checkpoints and curated documents, in Chinese and English, best first.

    Each result has an id for fetch, a title and the address of its page.
    """
    try:
        found = memory_search(caller, query=query, limit=MOST_HITS)
    except EmptyQuery:
        return ConnectorHits(results=[])  # These callers know no error that they could mend.
    return ConnectorHits(
        results=[ConnectorHit(id=hit.memory_id, title=hit.title, url=page_of(hit.memory_id)) for hit in found.results]
    )


@operation(needs=Right.READ, answers=ConnectorText)
def fetch(caller: Caller, *, id: FoundId) -> ConnectorText:
    """Read the full text of one result of search, as Markdown, with the address of its page to cite."""
    read = shown(current(memory_for(caller, id)), caller)
    return ConnectorText(
        id=read.memory_id,
        title=read.title,
        text=read.body,
        url=page_of(read.memory_id),
        metadata={
            "kind": read.kind if read.resource == "memory" else read.resource,
            "status": read.status,
            "scope": read.scope,
            "tags": ", ".join(read.tags),
            "updated_at": read.updated_at.isoformat(timespec="seconds"),
        },
    )


def page_of(memory_id: str) -> str:
    """The address of a memory's page, whatever it is: that page leads on to those of checkpoints and documents."""
    return server_address() + reverse("memory-detail", args=[memory_id])
