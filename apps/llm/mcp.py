from apps.llm import selectors, services
from apps.operations.mcp import Tool

TOOLS = [
    Tool(services.curation_model_connection_save),
    Tool(selectors.curation_model_connection_status),
    Tool(services.curation_model_connection_test),
    Tool(selectors.curation_model_list),
    Tool(services.curation_model_connection_delete),
    Tool(selectors.curation_model_usage),
    Tool(selectors.curation_model_call_list),
]
