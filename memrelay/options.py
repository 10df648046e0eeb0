"""Every setting an operator can make: its name, default and meaning, in one table.

``settings.py`` reads the environment through it, ``docs/settings.md`` is printed from it, a test holds them together.
"""

import math
from dataclasses import dataclass
from itertools import groupby
from typing import Any

YES, NO = {"1", "true", "yes", "y", "on", "ok", "t"}, {"0", "false", "no", "n", "off", "f"}


@dataclass(frozen=True)
class Option:
    """A number lies between ``least`` and ``most``."""

    name: str
    kind: type
    default: Any
    meaning: str
    group: str = "General"
    least: float = 0
    most: float = math.inf

    def understood(self, text: str) -> Any:
        """What an operator wrote for a number or a yes or no; nothing is the default, ``ValueError`` what cannot work."""
        text = text.strip().lower()
        if not text:
            return self.default
        if self.kind is bool:
            if text not in YES | NO:
                raise ValueError(self.name)
            return text in YES
        number = self.kind(text)
        if not (math.isfinite(number) and self.least <= number <= self.most):
            raise ValueError(self.name)
        return number


OPTIONS = [
    Option(
        "MEMRELAY_DATA",
        str,
        "data",
        "The data folder: database, Markdown, keys. Relative paths start at the project.",
        "Data",
    ),
    Option(
        "MEMRELAY_SECRET_KEY",
        str,
        "",
        "Signs sessions and cursors. Empty: a key is made at the first start and kept in keys/.",
        "Data",
    ),
    Option("MEMRELAY_DEBUG", bool, False, "Django's debug pages. Never on a server that others reach.", "General"),
    Option("MEMRELAY_HOST", str, "127.0.0.1", "The address to listen on; 0.0.0.0 for every interface.", "Web"),
    Option("MEMRELAY_PORT", int, 8765, "The port to listen on.", "Web", most=65_535),
    Option(
        "MEMRELAY_PUBLIC_URL",
        str,
        "",
        "The address people and agents use, such as https://memory.example.org, where a reverse proxy stands in front.",
        "Web",
    ),
    Option(
        "MEMRELAY_ALLOWED_HOSTS",
        list,
        [],
        "Host names to answer to besides localhost and the one of MEMRELAY_PUBLIC_URL.",
        "Web",
    ),
    Option(
        "MEMRELAY_BEHIND_PROXY",
        bool,
        False,
        "Trust X-Forwarded-Proto and X-Forwarded-For of the reverse proxy in front. Only where one is.",
        "Web",
    ),
    Option("MEMRELAY_WEB_PROCESSES", int, 2, "Web processes.", "Web", least=1),
    Option("MEMRELAY_WEB_THREADS", int, 8, "Threads for requests, per web process.", "Web", least=1),
    Option("MEMRELAY_BODY_LIMIT", int, 4_194_304, "Largest request body, in bytes.", "Web", least=1),
    Option(
        "MEMRELAY_RATE_PER_MINUTE",
        int,
        1200,
        "Requests per minute for one token or address, per web process, over REST. 0 is no limit.",
        "Web",
    ),
    Option(
        "MEMRELAY_SIGN_IN_TRIES",
        int,
        10,
        "Failed sign-ins for one name or address in 15 minutes before a pause.",
        "Web",
        least=1,
    ),
    Option(
        "MEMRELAY_TIME_ZONE",
        str,
        "UTC",
        "The time zone of people and agents that name none, such as Asia/Shanghai.",
        "General",
    ),
    Option("MEMRELAY_LANGUAGE", str, "en", "The language of people who chose none: en or zh-hans.", "General"),
    Option("MEMRELAY_LOG_LEVEL", str, "INFO", "DEBUG, INFO, WARNING or ERROR.", "General"),
    Option("MEMRELAY_BODY_CHARACTERS", int, 1_000_000, "Longest body of one memory, in characters.", "Memory", least=1),
    Option("MEMRELAY_TITLE_CHARACTERS", int, 200, "Longest title, in characters.", "Memory", least=1),
    Option("MEMRELAY_SUMMARY_CHARACTERS", int, 1000, "Longest summary, in characters.", "Memory", least=1),
    Option("MEMRELAY_TAGS", int, 50, "Most tags of one memory.", "Memory"),
    Option(
        "MEMRELAY_SAVE_MANY",
        int,
        200,
        "Most memories in one memory_save_many; also the most changes of one commit.",
        "Memory",
        least=1,
        most=200,
    ),
    Option("MEMRELAY_FOLDER_FILES", int, 500, "Files in one folder before the next one is begun.", "Memory", least=1),
    Option(
        "MEMRELAY_SAVE_RELATED",
        bool,
        True,
        "Answer memory_save with related memories and a possible duplicate.",
        "Memory",
    ),
    Option(
        "MEMRELAY_INDEX_CHARACTERS",
        int,
        4000,
        "Most characters of the index of memories, one line each, that agents get when a session begins. 0 is no index.",
        "Memory",
    ),
    Option(
        "MEMRELAY_CONTEXT_TOKENS",
        int,
        6000,
        "Token budget of context_get where the caller names none.",
        "Memory",
        least=1,
    ),
    Option(
        "MEMRELAY_SEARCH_LIMIT",
        int,
        10,
        "Hits of one page of memory_search where the caller names none.",
        "Memory",
        least=1,
        most=200,
    ),
    Option(
        "MEMRELAY_SEARCH_TEXT_WEIGHT",
        float,
        24.0,
        "How much words count beside meaning in hybrid search. More finds exact wordings, less finds paraphrases.",
        "Search",
    ),
    Option(
        "MEMRELAY_SEARCH_THREAD_WEIGHT",
        float,
        1.0,
        "How much a memory gains by what was said just before and after it in its thread. 0 is nothing.",
        "Search",
    ),
    Option(
        "MEMRELAY_SEARCH_MEANING_FLOOR",
        float,
        1.5,
        "What holds none of the words must be so near in meaning, in standard deviations above the average text.",
        "Search",
        least=-math.inf,
    ),
    Option(
        "MEMRELAY_SEARCH_DEPTH",
        int,
        30,
        "So many of the best by words, and by meaning, are ranked together. More costs time.",
        "Search",
        least=1,
    ),
    Option(
        "MEMRELAY_SEARCH_FOLD",
        bool,
        True,
        "Show memories that say the same as one hit, the others named in it. Text mode never folds.",
        "Search",
    ),
    Option(
        "MEMRELAY_EMBEDDING",
        str,
        "default",
        "The embedding model: default, off, a name of fastembed's list, a folder of this machine, or endpoint.",
        "Search",
    ),
    Option(
        "MEMRELAY_EMBEDDING_DOWNLOAD",
        bool,
        False,
        "Allow to download a named model, once, from Hugging Face or the mirror in HF_ENDPOINT.",
        "Search",
    ),
    Option(
        "MEMRELAY_EMBEDDING_URL",
        str,
        "",
        "For endpoint: the base address of an OpenAI-compatible service, such as http://127.0.0.1:11434/v1.",
        "Search",
    ),
    Option("MEMRELAY_EMBEDDING_MODEL", str, "", "For endpoint: the model's name there.", "Search"),
    Option("MEMRELAY_EMBEDDING_KEY", str, "", "For endpoint: the key that opens it. It is never logged.", "Search"),
    Option(
        "MEMRELAY_EMBEDDING_DIMENSIONS",
        int,
        0,
        "For endpoint: ask for vectors of this many numbers. 0 takes what the model gives.",
        "Search",
    ),
    Option(
        "MEMRELAY_EMBEDDER_IDLE_SECONDS",
        int,
        600,
        "The embedder process ends after so many seconds without a question and without work.",
        "Search",
    ),
    Option(
        "MEMRELAY_EMBEDDING_PASSAGES",
        int,
        64,
        "Most pieces of one document that get a vector; of a longer text they are taken evenly from all of it.",
        "Search",
        least=1,
    ),
    Option(
        "MEMRELAY_SEMANTIC_TIMEOUT_MS",
        int,
        1500,
        "Milliseconds that a search waits for vectors; then it answers from words alone and says so.",
        "Search",
        least=1,
    ),
    Option("MEMRELAY_RECALL", bool, True, "Recall memories that fit a user's message, for clients that ask.", "Memory"),
    Option(
        "MEMRELAY_RECALL_MIN_SCORE",
        float,
        1.2,
        "What a memory must score to be recalled: 1 is one rare word of its summary, 1.3 one rare tag.",
        "Memory",
    ),
    Option("MEMRELAY_RECALL_MEMORIES", int, 3, "Most memories recalled with one message.", "Memory"),
    Option("MEMRELAY_RECALL_CHARACTERS", int, 2000, "Most characters of what is recalled with one message.", "Memory"),
    Option(
        "MEMRELAY_RECALL_MILLISECONDS",
        float,
        100.0,
        "So long recall may look for memories; then the message goes without.",
        "Memory",
    ),
    Option(
        "MEMRELAY_RECALL_SESSION_DAYS",
        int,
        30,
        "Days until a session that asked for nothing more is forgotten, with what was recalled in it.",
        "Memory",
        least=1,
    ),
    Option(
        "MEMRELAY_MODEL_DAY_TOKENS",
        int,
        2_000_000,
        "Most tokens that one workspace may use at the model in a day. 0 is no cap.",
        "Model",
    ),
    Option(
        "MEMRELAY_MODEL_MONTH_TOKENS",
        int,
        20_000_000,
        "Most tokens that one workspace may use at the model in a month. 0 is no cap.",
        "Model",
    ),
    Option(
        "MEMRELAY_MODEL_PLAIN_HTTP",
        bool,
        False,
        "Allow a model endpoint over unencrypted http outside private networks.",
        "Model",
    ),
    Option(
        "MEMRELAY_MODEL_RETRY_SECONDS",
        float,
        1.0,
        "Seconds before the first of the three retries of a model request; each further one waits twice as long.",
        "Model",
    ),
    Option(
        "MEMRELAY_SCAN_SECONDS",
        int,
        30,
        "Seconds between two looks at the Markdown folder for outside edits.",
        "Background",
        least=1,
    ),
    Option(
        "MEMRELAY_SWEEP_SECONDS",
        float,
        2.0,
        "Seconds between two sweeps that make written files durable.",
        "Background",
    ),
    Option(
        "MEMRELAY_SETTLE_SECONDS",
        float,
        2.0,
        "An outside edit is adopted once its file has been still this long.",
        "Background",
    ),
    Option(
        "MEMRELAY_VANISHED_FILES",
        int,
        20,
        "A scan that misses more files than this and than the next figure stops in red.",
        "Background",
    ),
    Option(
        "MEMRELAY_VANISHED_PERCENT",
        int,
        10,
        "See above: the share of a scope's files, in percent.",
        "Background",
        most=100,
    ),
    Option(
        "MEMRELAY_IMPORT_FILE_BYTES", int, 8_388_608, "Largest file an import takes, in bytes.", "Background", least=1
    ),
    Option(
        "MEMRELAY_IMPORT_FOLDERS",
        list,
        [],
        "Folders of this machine that imports over REST and MCP may read and exports may write. The commands may use any.",
        "Background",
    ),
    Option(
        "MEMRELAY_SOURCE_CHARACTERS",
        int,
        20_000,
        "So much of one memory a curation reads, in characters; of a longer one it reads the beginning and says so.",
        "Model",
        least=1,
    ),
    Option(
        "MEMRELAY_SOURCE_TOKENS",
        int,
        60_000,
        "So many tokens of sources go into one request of a curation; what is left waits for the next one.",
        "Model",
        least=1,
    ),
    Option(
        "MEMRELAY_CURATION_RETRY_SECONDS",
        int,
        60,
        "Seconds until a failed curation is tried again; each of the three tries waits twice as long as the one before.",
        "Model",
    ),
    Option("MEMRELAY_CURATION_SLOTS", int, 1, "Curations at the same time.", "Background", least=1),
    Option(
        "MEMRELAY_GIT_PLAIN_HTTP",
        bool,
        False,
        "Allow Git servers over http, which sends credentials unencrypted.",
        "Git",
    ),
    Option(
        "MEMRELAY_GIT_FILE_FOLDERS",
        list,
        [],
        "Folders of this machine below which a Git remote may be a path (file:///...). Empty: none may.",
        "Git",
    ),
    Option(
        "MEMRELAY_GIT_FETCH_BYTES",
        int,
        536_870_912,
        "Most that is taken from a Git server at once, in bytes.",
        "Git",
        least=1,
    ),
    Option(
        "MEMRELAY_GIT_RETRY_SECONDS",
        float,
        30.0,
        "Seconds until a push that failed is tried again; each further one waits twice as long, up to an hour.",
        "Git",
    ),
    Option(
        "MEMRELAY_ACCESS_LOG",
        bool,
        False,
        "One log line a request: address, method, path, status, time, request id. No query, no body.",
        "Web",
    ),
    Option("MEMRELAY_STOP_SECONDS", int, 10, "Seconds that running requests get when the server stops.", "Background"),
    Option(
        "MEMRELAY_FAULT_POINT",
        str,
        "",
        "For tests: die at this named point of the road of a write. Never set it on a server.",
        "Background",
    ),
]

GROUPS = ["General", "Data", "Web", "Memory", "Search", "Model", "Git", "Background"]
ABOUT = """# Settings

Every setting is an environment variable; a file `.env` beside `manage.py` may hold them too. Lists are written with
commas: `MEMRELAY_ALLOWED_HOSTS=memory.example.org,10.0.0.5`. A setting that cannot work is named at the start, with a
hint. This page is printed from `memrelay/options.py` by `make settings`.
"""


def as_page() -> str:
    """``docs/settings.md``: one table a group."""
    parts = [ABOUT]
    ordered = sorted(OPTIONS, key=lambda option: GROUPS.index(option.group))
    for group, options in groupby(ordered, key=lambda option: option.group):
        rows = [f"| `{option.name}` | {_shown(option.default)} | {option.meaning} |" for option in options]
        parts.append("\n".join([f"## {group}", "", "| setting | default | meaning |", "|---|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def _shown(default: Any) -> str:
    match default:
        case "" | []:
            return "(empty)"
        case bool():
            return "on" if default else "off"
        case _:
            return f"`{default}`"


if __name__ == "__main__":
    print(as_page(), end="")  # noqa: T201 - this is the command that prints the page
