"""A model for the pages: the double, with documents worth reading, connected and asked once in each language."""

from typing import Any

from tests.browser.content import Content
from tests.doubles.model import ModelDouble
from tests.live.server import wait_until

MEMORY_IDS = r"\b(?:mem|chk)_[0-9a-hjkmnp-tv-z]{26}\b"


def _answer(*documents: tuple[str, str, list[tuple[str, str]]], summary: str) -> dict[str, Any]:
    return {
        "documents": [
            {
                "document_type": kind,
                "title": title,
                "sections": [
                    {"heading": heading, "body": body, "source_ids": ["$first_id"]} for heading, body in sections
                ],
                "source_ids": "$ids",
            }
            for kind, title, sections in documents
        ],
        "conflicts": [],
        "change_summary": [summary],
    }


ENGLISH = _answer(
    (
        "overview",
        "Relay: a memory server for agents",
        [
            ("Aim", "Relay keeps what agents learn as plain Markdown and finds it again in Chinese and English."),
            (
                "Rules that always hold",
                "- Releases go out on **Thursdays** before 11:00, never on Fridays.\n"
                "- A release needs green tests, a changelog and a tag.",
            ),
            ("How it hangs together", "The ledger writes, search finds, the doors serve REST and MCP alike."),
        ],
    ),
    (
        "current-state",
        "Where Relay stands",
        [
            ("Finished last", "Search answers two-character Chinese words; 24 tests pass."),
            ("Next steps", "1. Vectors\n2. Benchmarks at 20,000 memories"),
        ],
    ),
    summary="Both documents are new; the release rules moved into the overview.",
)
CHINESE = _answer(
    (
        "overview",
        "论文：长期记忆与检索",
        [
            ("目标", "研究智能体的长期记忆如何以纯文本保存，并在中英文之间检索。"),
            ("约定", "- 每章初稿完成后留下检查点。\n- 引用资料一律注明出处。"),
        ],
    ),
    (
        "current-state",
        "论文进展",
        [("已完成", "第二章“相关工作”初稿，约 **6,200 字**。"), ("接下来", "1. 修订第二章\n2. 开始第三章的实验设计")],
    ),
    summary="两份文档均为新建。",
)


def teach(model: ModelDouble) -> None:
    """What the double says to a workspace of either language."""
    steps = [{"template": CHINESE, "ids": MEMORY_IDS, "for": "第二章初稿完成", "times": 1000}]
    model.scenario(answers=steps, otherwise={"template": ENGLISH, "ids": MEMORY_IDS})


def curate_all(content: Content, model: ModelDouble) -> None:
    """Connect the double, switch curation on, and have both workspaces curated."""
    fields = {"base_url": model.base_url, "text_model": "double-text", "token": "sk-of-the-double", "test": True}
    content.call("PUT", "/curation/model-connection", fields)
    content.call("PATCH", "/curation/settings", {"enabled": True})
    teach(model)  # Now only: what it was asked so far was the test.
    for name in ("relay", "thesis"):
        asked = {"project_id": content.ids[name]}
        content.ids[f"curation {name}"] = job_id = content.call("POST", "/curation/jobs", asked)["job_id"]
        state = wait_until(lambda job_id=job_id: _over(content, job_id), 60, what=f"{name} is curated")
        assert state == "completed", content.call("GET", f"/curation/jobs/{job_id}")["error"]
        found = content.call("GET", f"/curation/documents?project_id={content.ids[name]}")["documents"]
        content.ids[f"document {name}"] = found[0]["document_id"]


def _over(content: Content, job_id: str) -> str:
    state = str(content.call("GET", f"/curation/jobs/{job_id}")["state"])
    return state if state in ("completed", "failed", "cancelled", "waiting_dependency") else ""
