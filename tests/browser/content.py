"""What the server of these tests remembers: short and long, Chinese and English, changed, archived and deleted."""

import json
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.live.server import wait_until

RUNBOOK = """# Deploying

We deploy on **Thursdays** before noon, see [[Release checklist]] and [the runbook](https://example.org/runbook).

- [x] tests green
- [ ] changelog written

```bash
make release VERSION=1.4.2 REGISTRY=registry.example.org/a/rather/long/path/that/does/not/fit/on/a/phone
```

| step | who | minutes |
|---|:-:|--:|
| tag | Alice | 2 |
| push | Bob | 10 |

> Never on a Friday.

![The plan](https://elsewhere.example/plan.png)
"""
LOCKED = """## 现象

批量导入时报 `database is locked`（错误码 SQLITE_BUSY）。

## 原因

某个事务里调用了外部模型，持有写锁超过 20 秒。

## 解决

1. 把外部调用移出事务。
2. 用 [[部署流程]] 中的检查脚本确认。
"""
LONG_TITLE = (
    "A very long title about the interplay of write-ahead logs, durable commits and fsync groups, "
    "so that it wraps on every narrow screen there is"
)
LONG_PATH = "memories/2026/11/" + "averyverylongfilenamewithoutanyspaces" * 3 + ".md"


@dataclass
class Content:
    """Ids of what was made, by a short name."""

    url: str
    token: str
    ids: dict[str, str] = field(default_factory=dict)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"{self.url}/api/v1{path}",
            method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=20) as response:
            return json.load(response)

    def tool(self, name: str, /, **arguments: Any) -> Any:
        """Call a tool as an MCP client does."""
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        request = urllib.request.Request(
            f"{self.url}/mcp",
            data=json.dumps(call).encode(),
            headers={
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
            },
        )
        with urllib.request.urlopen(request, timeout=20) as response:
            return json.load(response)["result"]["structuredContent"]

    def save(self, name: str, title: str, body: str, **fields: Any) -> dict[str, Any]:
        saved: dict[str, Any] = self.call("POST", "/memories", {"title": title, "body": body, **fields})
        self.ids[name] = saved["memory_id"]
        return saved


def fill(url: str, token: str, folder: Path | None = None) -> Content:
    """``folder``: one that the operator opened for imports."""
    content = Content(url, token)
    _workspaces(content)
    _spaces(content)
    _memories(content)
    _checkpoints(content)
    if folder is not None:
        _import(content, folder)
    _versions(content)
    return content


def _versions(content: Content) -> None:
    """Memory Git, with a commit of everything and one of a change."""
    content.call("PATCH", "/git/settings", {"enabled": True})
    wait_until(lambda: not content.call("GET", "/git/settings")["preparing"], what="the first commit is made")
    content.tool("memory_append", memory_id=content.ids["runbook"], text="One more step: read the log.")

    def newest() -> str:
        found = content.call("GET", "/git/commits?kind=memory_append")["commits"]
        return str(found[0]["commit"]) if found else ""

    content.ids["commit"] = wait_until(newest, what="the change is committed")
    first = content.call("GET", "/git/commits?kind=git_baseline")["commits"][0]
    content.ids["baseline"], content.ids["repository"] = first["commit"], first["repository_id"]


def import_folder(folder: Path) -> Path:
    """What the server of these tests opens for imports, below its own folder."""
    opened = folder / "notes"
    opened.mkdir(exist_ok=True)
    return opened


def _import(content: Content, folder: Path) -> None:
    for name, text in {"tea.md": "# Green tea\n\nTwo minutes.\n", "茶.md": "# 绿茶\n\n两分钟。\n"}.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "broken.md").write_bytes(b"\xff\xfe\x00\xd8")
    asked = {"folder": str(folder), "project_id": content.ids["home"]}
    content.ids["job"] = content.call("POST", "/memories/import", asked)["job_id"]
    wait_until(
        lambda: content.call("GET", f"/jobs/{content.ids['job']}")["state"] == "completed", what="it is imported"
    )


def _workspaces(content: Content) -> None:
    for name, fields in {
        "relay": {
            "name": "Relay",
            "git_remote": "https://git.example.org/team/relay.git",
            "workspace_type": "development",
            "description": "The memory server itself: ledger, search, doors and console.",
        },
        "thesis": {
            "name": "论文：长期记忆与检索",
            "workspace_type": "research",
            "description": "硕士论文的资料、决定与进度。",
        },
        "home": {"name": "Household", "workspace_type": "personal"},
    }.items():
        content.ids[name] = content.call("POST", "/projects", fields)["project_id"]


def _spaces(content: Content) -> None:
    space = {"profile_id": "lin", "name": "林晓", "description": "产品与文档；习惯用中文，回答简短。"}
    content.tool("usage_profile_save", **space)


def _memories(content: Content) -> None:
    here = {"project_id": content.ids["relay"]}
    runbook = content.save(
        "runbook",
        "Deploy on Thursdays",
        RUNBOOK,
        kind="rule",
        tags=["deploy", "ops"],
        summary="Releases go out on Thursday mornings, never on Fridays.",
        **here,
    )
    edit = {"old": "before noon", "new": "before 11:00"}
    changed = {"revision": runbook["revision"], "replace": [edit], "tags": ["deploy", "ops", "release"]}
    content.call("PATCH", f"/memories/{content.ids['runbook']}", {**changed, "reason": "The morning meeting moved."})
    content.save("checklist", "Release checklist", "1. Tests\n2. Changelog\n3. Tag\n", tags=["deploy"], **here)
    content.save(
        "locked",
        "数据库连接失败的排查步骤",
        LOCKED,
        kind="experience",
        note_type="project",
        tags=["数据库", "排查", "sqlite"],
        summary="遇到 “database is locked” 时先看写事务是否过长，再看是否有第二个写进程。",
        **here,
    )
    content.save("flow", "部署流程", "先灰度 10%，观察 30 分钟，再全量。\n", kind="fact", tags=["部署"], **here)
    content.save(
        "long",
        LONG_TITLE,
        f"See `/srv/memrelay/{LONG_PATH}`.\n\n{'unbreakable' * 30}\n",
        kind="decision",
        note_type="reference",
        tags=["a-rather-long-tag-that-hardly-fits", "sqlite", "durability", "wal", "fsync", "performance"],
        path=LONG_PATH,
        **here,
    )
    content.save("language", "Answer in the language of the question", "Chinese for Chinese.\n", note_type="user")
    content.save("old", "旧的部署说明", "已废弃。\n", summary="被新的部署流程取代。", **here)
    content.call("DELETE", f"/memories/{content.ids['old']}")
    content.save("roadmap", "The roadmap of last year", "Done.\n", **here)
    content.call("POST", f"/memories/{content.ids['roadmap']}/archive", {})
    kinds = ("note", "fact", "experience")
    content.save(
        "method",
        "检索实验的设计",
        "比较二元组切分与向量检索，语料为 20,000 条记忆。\n",
        kind="decision",
        tags=["实验"],
        summary="先比较召回率，再比较延迟。",
        project_id=content.ids["thesis"],
    )
    nights = [
        {
            "title": f"Observation {n} of the nightly run",
            "body": f"Run {n}.\n",
            "kind": kinds[n % 3],
            "tags": ["nightly"],
        }
        for n in range(1, 25)
    ]
    content.call("POST", "/memories/many", {"memories": nights, **here})


def _checkpoints(content: Content) -> None:
    relay, thesis = content.ids["relay"], content.ids["thesis"]
    for name, fields in {
        "search": {
            "title": "Search answers Chinese and English",
            "project_id": relay,
            "important": True,
            "completed": "The tokeniser splits Han text into overlapping pairs; **24 tests** pass.",
            "reason": "Two-character words were never found.",
            "key_changes": "- `search/tokens.py`\n- index version 3",
            "problems": "Ranking of one-letter words.",
            "next_steps": "- Vectors\n- Benchmarks at 20,000 memories",
        },
        "chapter": {"title": "第二章初稿完成", "project_id": thesis, "completed": "相关工作一章初稿 6,200 字。"},
    }.items():
        content.ids[f"checkpoint {name}"] = content.call("POST", "/checkpoints", fields)["memory_id"]
