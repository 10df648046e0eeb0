"""How a client is set up."""

from apps.context.addresses import api_address, mcp_address
from apps.context.clients import CLIENTS, PLACEHOLDER, Addresses
from apps.context.schemas import ClientConfigOut, ClientName
from apps.memories.schemas import ProjectRef
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation
from apps.workspaces.selectors import project_for


@operation(needs=Right.READ, answers=ClientConfigOut)
def client_config_get(caller: Caller, *, client: ClientName, project_id: ProjectRef = "") -> ClientConfigOut:
    """Show how a client is connected to this server: what to paste where. The token stands as a placeholder.

    With a workspace the address is bound to it: the client reaches no other one.
    """
    bound = project_for(caller, project_id).pk if project_id else None
    wanted, to = CLIENTS[client], Addresses(mcp_address(bound), api_address())
    return ClientConfigOut(
        client=client,
        name=wanted.name,
        explanation=str(wanted.explanation),
        snippets=wanted.snippets(to),
        mcp_url=to.mcp,
        api_url=to.api,
        token_placeholder=PLACEHOLDER,
    )
