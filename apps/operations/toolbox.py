"""Reach every tool from a short list: find one by words, run it by name.

An agent pays for each listed tool in every conversation. So the toolset ``agent`` lists the few tools of daily work and
these two, through which it reaches all the others when it needs them.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import mcp_types as wire
from pydantic import BaseModel, Field

from apps.base.errors import Invalid
from apps.base.text import fold
from apps.operations.caller import Caller, Right
from apps.operations.mcp import AGENT, FULL, Tool, no_such_tool
from apps.operations.operation import Effect, Operation

# How Chinese words of a request are said in the manuals, which are English.
IN_ENGLISH = {
    "记忆": "memory", "笔记": "note memory", "保存": "save", "新建": "create save", "创建": "create", "搜索": "search",
    "查找": "search", "检索": "search", "读取": "get read", "查看": "get list", "列表": "list", "列出": "list",
    "更新": "update", "修改": "update", "编辑": "update", "追加": "append", "删除": "delete", "归档": "archive",
    "恢复": "restore", "还原": "restore revert", "撤销": "revert restore", "回退": "revert", "移动": "move",
    "历史": "history", "版本": "revision", "差异": "diff", "比较": "diff", "检查点": "checkpoint", "进度": "checkpoint",
    "时间线": "timeline", "项目": "project", "工作区": "project workspace", "令牌": "token", "导入": "import",
    "导出": "export", "上下文": "context", "能力": "capabilities", "整理": "curation", "提示": "prompt",
    "配置": "settings", "设置": "settings", "状态": "status", "仪表盘": "dashboard", "用户": "profile", "批量": "many",
}  # fmt: skip
IDLE_WORDS = frozenset(
    "a an and are as at be by do for from how i if in is it my of on or that the this to what with".split()
)
WEIGHTS = {"name": 6.0, "summary": 3.0, "manual": 1.0}
ENDINGS = re.compile(r"(?<=..)(ing|ed|es|s|e)$")
STEM = 5  # Words agree when this much of them does, their endings off: archive, archived, archiving.

ToolQuery = Annotated[str, Field(min_length=1, max_length=400, description="What you want to do, in a few words.")]
ToolLimit = Annotated[int, Field(ge=1, le=20, description="Most tools to answer.")]
ToolName = Annotated[str, Field(max_length=80, description="The tool's name.")]
ToolArguments = Annotated[dict[str, Any], Field(description="Its arguments, as its input_schema says.")]


class FoundTool(BaseModel):
    name: str
    description: str
    input_schema: dict[str, Any]


class FoundTools(BaseModel):
    """``names`` is filled only where nothing matched: then it names every tool."""

    tools: list[FoundTool]
    names: list[str] = []


class Toolbox:
    """All tools of the server, and the two that open them."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.by_name = {tool.name: tool for tool in tools}
        self._words = {name: _words_of(tool) for name, tool in self.by_name.items()}
        self._known_by = Counter(stem for words in self._words.values() for stem in set().union(*words.values()))

    def tools(self) -> list[Tool]:
        both = frozenset({AGENT, FULL})
        search = Operation(self.tool_search, Right.READ, FoundTools, Effect.READS, True, None)
        run = Operation(self.tool_run, Right.READ, FoundTools, Effect.DESTROYS, False, None)
        return [Tool(search, both), _Run(run, both)]

    def tool_search(self, caller: Caller, *, query: ToolQuery, limit: ToolLimit = 5) -> FoundTools:
        """Find further tools by what they do. Run them with tool_run."""
        found = [self._found(self.by_name[name]) for name in self.ranked(query)[:limit]]
        return FoundTools(tools=found, names=[] if found else sorted(self.by_name))

    def tool_run(
        self, caller: Caller, *, name: ToolName, arguments: ToolArguments | None = None
    ) -> wire.CallToolResult:
        """Run any tool that tool_search found, listed or not, with your own rights."""
        if name not in self.by_name:
            raise no_such_tool(name, self.by_name)
        tool = self.by_name[name]
        try:
            return tool.result(caller, arguments or {})
        except Invalid as error:
            # Whoever runs a tool unseen may not know its arguments.
            error.facts["input_schema"] = tool.input_schema
            raise

    def ranked(self, query: str) -> list[str]:
        """Names of the tools that share words with the query, best first; rare words say more than common ones."""
        stems = {_stem(word) for word in _words(_in_english(query)) if word not in IDLE_WORDS}
        scores = {name: self._score(stems, words) for name, words in self._words.items()}
        return sorted((name for name, score in scores.items() if score > 0), key=lambda name: (-scores[name], name))

    @staticmethod
    def _found(tool: Tool) -> FoundTool:
        return FoundTool(name=tool.name, description=tool.operation.manual, input_schema=tool.input_schema)

    def _score(self, stems: set[str], words: Mapping[str, set[str]]) -> float:
        return sum(
            weight * math.log(1 + len(self.by_name) / self._known_by[stem])
            for part, weight in WEIGHTS.items()
            for stem in stems & words[part]
        )


class _Run(Tool):
    """Its result is the other tool's own."""

    def result(self, caller: Caller, arguments: Mapping[str, Any]) -> wire.CallToolResult:
        result: wire.CallToolResult = self.operation.perform(caller, arguments)
        return result

    def describe(self, toolset: str = FULL) -> wire.Tool:
        return super().describe(toolset).model_copy(update={"output_schema": None})


def _words_of(tool: Tool) -> dict[str, set[str]]:
    operation = tool.operation
    texts = {"name": operation.name, "summary": operation.summary, "manual": operation.manual}
    return {part: {_stem(word) for word in _words(text)} for part, text in texts.items()}


def _in_english(query: str) -> str:
    return f"{query} " + " ".join(english for chinese, english in IN_ENGLISH.items() if chinese in query)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", fold(text))


def _stem(word: str) -> str:
    return ENDINGS.sub("", word)[:STEM]
