from apps.operations.mcp import Tool
from apps.profiles import selectors, services

TOOLS = [Tool(selectors.usage_profile_list), Tool(services.usage_profile_save)]
