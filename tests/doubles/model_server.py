"""A model server without a model: Chat Completions, Responses and model discovery as the genuine services speak them.

``python -m tests.doubles.model_server --port 0`` prints its port. The base URL is ``http://127.0.0.1:<port>/v1``.
What it answers is a scenario, what it was asked is a log, both over HTTP and without a token:

    POST   /_scenario   set some fields of the scenario (``SCENARIO`` below has all of them and their defaults)
    PUT    /_scenario   the same, every other field back to its default
    GET    /_log        every request: path, headers, body, the step that answered it, whether it was answered whole
    DELETE /_log        forget them

Every generation takes the first step of ``answers`` that fits it, then ``otherwise``. A step is one of

    {"fit": true}                      an instance of the schema that was asked for
    {"json": value} {"text": "..."}    that answer, word for word
    {"template": value}                the value with "$ids" (all ids found in the request), "$first_id" and "$input" put in
    {"echo": "pattern"}                like fit, but lists named ``*ids`` hold the ids of the request that match the pattern
    {"garbage": "thinking|fenced|prose|half|missing|schema|unknown_ids|empty|nothing"}
    {"status": 429, "retry_after": 1, "code": "...", "message": "...", "param": "..."}
    {"cut": "before|middle|end|quiet"} the connection breaks: without an answer, within it, just before its end; a stream
                                       that stops in the middle as if it were whole
    {"content_type": "text/html"}      a page instead of an answer
    {"body": value}                    that body instead of the protocol's

and may also say ``delay`` (seconds before the answer), ``pause`` (seconds between pieces of a stream), ``finish``
(``length``, ``content_filter``, ``refusal``), ``for`` (only for requests whose body holds this text) and ``times``.
"""

import argparse
import json
import re
import socket
import struct
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

SCENARIO: dict[str, Any] = {
    "token": None,  # None: everybody may ask.
    "models": ["double-text", "double-vision"],  # None: there is no /models and any name is taken.
    "protocols": ["responses", "chat_completions"],
    "unsupported_status": 404,  # How a protocol that is not spoken is refused; some endpoints say 400.
    "streaming": "yes",  # "refused": 400; "ignored": a plain answer; "only": plain requests are refused; "always".
    "structured": "json_schema",  # "json_object", "none": others are refused; "ignored": taken and not obeyed.
    "refused_parameters": [],  # Answered with 400 unsupported_parameter.
    "usage": True,
    "vision_models": ["double-vision"],
    "redirect_to": None,
    "piece": 24,  # Characters of one piece of a stream.
    "answers": [],
    "otherwise": {"fit": True},
}
IDS = r"\b[a-z]{2,5}_[0-9a-hjkmnp-tv-z]{26}\b"
GARBAGE_PROSE = "Certainly! I looked at everything and the documents are in good shape, nothing more to say."


class Refused(Exception):
    """What a genuine endpoint answers to a request it does not take."""

    def __init__(self, status: int, message: str, *, code: str | None = None, param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        kind = "invalid_request_error" if status < 500 else "server_error"
        self.body = {"error": {"message": message, "type": kind, "param": param, "code": code}}


# ------------------------------------------------------------------------------------------- what is asked


class Generation:
    """One request for text, whichever protocol it came by."""

    def __init__(self, protocol: str, body: dict[str, Any]) -> None:
        self.protocol = protocol
        self.body = body
        self.raw = json.dumps(body, ensure_ascii=False)
        self.streams = body.get("stream") is True

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def format(self) -> dict[str, Any]:
        """The structured output that was asked for, in the form of the Responses protocol."""
        if self.protocol == "responses":
            return (self.body.get("text") or {}).get("format") or {"type": "text"}
        asked = self.body.get("response_format") or {"type": "text"}
        return {"type": asked.get("type"), **(asked.get("json_schema") or {})}

    @property
    def schema(self) -> dict[str, Any]:
        """The schema of the answer: asked for natively, or found in the instructions."""
        if self.format["type"] == "json_schema":
            return self.format["schema"]
        found = [schema for schema in _json_objects_in(self.input) if "properties" in schema]
        return found[-1] if found else {"type": "object", "properties": {}}

    @property
    def input(self) -> str:
        """All the text that came with the request."""
        if self.protocol == "responses":
            return "\n".join([str(self.body.get("instructions") or ""), *_texts(self.body.get("input"))])
        return "\n".join(_texts(self.body.get("messages")))

    @property
    def has_images(self) -> bool:
        return '"input_image"' in self.raw or '"image_url"' in self.raw


def _texts(node: Any) -> list[str]:
    if isinstance(node, str):
        return [node]
    if isinstance(node, list):
        return [text for part in node for text in _texts(part)]
    if isinstance(node, dict):
        return _texts(node.get("content") or node.get("text") or [])
    return []


def _json_objects_in(text: str) -> list[dict[str, Any]]:
    decoder, found, at = json.JSONDecoder(), [], 0
    while (at := text.find("{", at)) >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            at += 1
            continue
        found.append(value)
        at = end
    return [value for value in found if isinstance(value, dict)]


def check(generation: Generation, scenario: dict[str, Any]) -> None:
    """Refuse what the genuine services refuse, and what the scenario says this one cannot do."""
    body = generation.body
    for name in scenario["refused_parameters"]:
        if name in body:
            message = f"Unsupported parameter: '{name}' is not supported with this model."
            raise Refused(400, message, code="unsupported_parameter", param=name)
    if not generation.model:
        raise Refused(400, "you must provide a model parameter", param="model")
    if scenario["models"] is not None and generation.model not in scenario["models"]:
        raise Refused(404, f"The model '{generation.model}' does not exist.", code="model_not_found", param="model")
    if generation.protocol == "responses":
        _check_responses(body)
    else:
        _check_chat(body)
    _check_format(generation, scenario["structured"])
    if scenario["streaming"] == "refused" and generation.streams:
        raise Refused(400, "Streaming is not supported.", code="unsupported_value", param="stream")
    if scenario["streaming"] == "only" and not generation.streams:
        raise Refused(400, "Stream must be set to true.", code="unsupported_value", param="stream")
    if generation.has_images and generation.model not in scenario["vision_models"]:
        raise Refused(400, "This model does not take images.", code="invalid_value", param="input")


def _check_responses(body: dict[str, Any]) -> None:
    if not isinstance(body.get("input"), str | list) or not body["input"]:
        raise Refused(400, "Missing required parameter: 'input'.", param="input")
    if "messages" in body or "response_format" in body:
        raise Refused(400, "Unknown parameter.", code="unknown_parameter", param="messages")
    if isinstance(limit := body.get("max_output_tokens", 16), int) and limit < 16:
        raise Refused(400, "Expected a value >= 16.", code="integer_below_min_value", param="max_output_tokens")


def _check_chat(body: dict[str, Any]) -> None:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Refused(400, "Missing required parameter: 'messages'.", param="messages")
    if any(message.get("role") not in ("system", "developer", "user", "assistant") for message in messages):
        raise Refused(400, "Invalid role.", code="invalid_value", param="messages")
    if "stream_options" in body and not body.get("stream"):
        raise Refused(400, "stream_options needs stream.", param="stream_options")


def _check_format(generation: Generation, structured: str) -> None:
    asked = generation.format
    kind, param = asked["type"], "text.format" if generation.protocol == "responses" else "response_format"
    taken = {"json_schema": ("json_schema", "json_object"), "json_object": ("json_object",), "none": ()}
    if kind != "text" and structured != "ignored" and kind not in taken[structured]:
        raise Refused(400, f"'{param}.type' of '{kind}' is not supported.", code="unsupported_value", param=param)
    if kind == "json_object" and "json" not in generation.input.lower():
        raise Refused(
            400, f"The input must contain the word 'json' to use '{param}' of type 'json_object'.", param=param
        )
    if kind == "json_schema":
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", str(asked.get("name", ""))):
            raise Refused(400, f"Invalid '{param}.name'.", param=f"{param}.name")
        if asked.get("strict") and (problem := _not_strict(asked.get("schema"))):
            raise Refused(400, f"Invalid schema: {problem}", code="invalid_json_schema", param=f"{param}.schema")


def _not_strict(node: Any) -> str:
    """What strict mode of the genuine services would refuse in a schema."""
    if isinstance(node, list):
        return next((problem for part in node if (problem := _not_strict(part))), "")
    if not isinstance(node, dict):
        return ""
    if node.get("type") == "object":
        if node.get("additionalProperties") is not False:
            return "'additionalProperties' is required to be false."
        if set(node.get("required", [])) != set(node.get("properties", {})):
            return "'required' has to include every key in properties."
    if "default" in node:
        return "'default' is not permitted."
    parts = [
        *node.get("properties", {}).values(),
        *node.get("$defs", {}).values(),
        node.get("items"),
        node.get("anyOf"),
    ]
    return next((problem for part in parts if (problem := _not_strict(part))), "")


# ---------------------------------------------------------------------------------------- what is answered


def answer_text(step: dict[str, Any], generation: Generation) -> str:
    """The model's words."""
    ids = _unique(re.findall(step.get("ids", IDS), generation.input))
    if "text" in step:
        return str(step["text"])
    if "json" in step:
        return _as_json(step["json"])
    if "template" in step:
        return _as_json(_filled(step["template"], ids, generation.input))
    if "garbage" in step:
        return _garbage(step["garbage"], generation.schema)
    found = _unique(re.findall(step["echo"], generation.input)) if isinstance(step.get("echo"), str) else ids
    return _as_json(instance_of(generation.schema, found if "echo" in step else []))


def instance_of(schema: dict[str, Any], ids: list[str], *, without: str = "") -> Any:
    """The smallest value that a schema accepts; lists named ``*ids`` hold the given ones."""
    return _instance(schema, schema.get("$defs", {}), ids, name="", without=without)


def _instance(node: dict[str, Any], definitions: dict[str, Any], ids: list[str], name: str, without: str = "") -> Any:
    if "$ref" in node:
        return _instance(definitions[node["$ref"].rpartition("/")[2]], definitions, ids, name)
    if "const" in node or "enum" in node:
        return node["const"] if "const" in node else node["enum"][0]
    if choices := node.get("anyOf") or node.get("oneOf") or node.get("allOf"):
        return _instance(choices[0], definitions, ids, name)
    if node.get("type") == "object" or "properties" in node:
        properties = {key: part for key, part in node.get("properties", {}).items() if key != without}
        return {key: _instance(part, definitions, ids, key) for key, part in properties.items()}
    if node.get("type") == "array":
        if name.endswith("ids"):
            return ids
        return [_instance(node["items"], definitions, ids, name) for _ in range(node.get("minItems", 1))]
    simple = {"integer": node.get("minimum", 1), "number": node.get("minimum", 1.0), "boolean": True, "null": None}
    return simple.get(node.get("type", ""), f"A {name or 'text'} of the double.")


def _garbage(kind: str, schema: dict[str, Any]) -> str:
    """What real models have sent instead of an answer."""
    sound = instance_of(schema, [])
    text = json.dumps(sound, ensure_ascii=False, indent=2)
    first = next(iter(schema.get("properties", {"": None})))
    return {
        "thinking": f'<think>They want {{"a": 1}}, so I think about it.</think>\n\n```json\n{text}\n```\n',
        "fenced": f"```json\n{text}\n```",
        "prose": GARBAGE_PROSE,
        "half": text[: max(2, len(text) // 2)],
        "missing": _as_json(instance_of(schema, [], without=first)),
        "schema": _as_json(schema),
        "unknown_ids": _as_json(instance_of(schema, ["mem_00000000000000000000000000"])),
        "empty": _as_json({name: [] if isinstance(part, list) else part for name, part in sound.items()}),
        "nothing": "",
    }[kind]


def _filled(node: Any, ids: list[str], text: str) -> Any:
    if node == "$ids":
        return ids
    if isinstance(node, str):
        return node.replace("$first_id", ids[0] if ids else "").replace("$input", text)
    if isinstance(node, list):
        return [_filled(part, ids, text) for part in node]
    if isinstance(node, dict):
        return {key: _filled(part, ids, text) for key, part in node.items()}
    return node


def _unique(found: list[str]) -> list[str]:
    return list(dict.fromkeys(found))


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def usage_of(generation: Generation, text: str) -> tuple[int, int]:
    return max(1, len(generation.input) // 4), max(1, len(text) // 4)


def chat_answer(generation: Generation, text: str, step: dict[str, Any], number: int) -> dict[str, Any]:
    finish = step.get("finish", "stop")
    message = {"role": "assistant", "content": text, "refusal": None}
    if finish == "refusal":
        finish, message = "stop", {"role": "assistant", "content": None, "refusal": "I can't help with that."}
    read, written = usage_of(generation, text)
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": f"{generation.model}-2026",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    }


def chat_stream(answer: dict[str, Any], generation: Generation, piece: int) -> list[str]:
    head = {key: answer[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    choice = answer["choices"][0]
    message = choice["message"]
    name = "content" if message["content"] is not None else "refusal"
    deltas = [{"role": "assistant", "content": ""}, *({name: part} for part in _pieces(message[name], piece))]
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    if "usage" in answer and (generation.body.get("stream_options") or {}).get("include_usage"):
        chunks.append({**head, "choices": [], "usage": answer["usage"]})
    return [f"data: {_as_json(chunk)}\n\n" for chunk in chunks] + ["data: [DONE]\n\n"]


def responses_answer(generation: Generation, text: str, step: dict[str, Any], number: int) -> dict[str, Any]:
    finish = step.get("finish", "stop")
    part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    if finish == "refusal":
        part = {"type": "refusal", "refusal": "I can't help with that."}
    cut = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(finish)
    read, written = usage_of(generation, text)
    item = {"type": "message", "id": f"msg_{number}", "status": "completed", "role": "assistant", "content": [part]}
    thought = {"type": "reasoning", "id": f"rs_{number}", "summary": []}
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "incomplete" if cut else "completed",
        "error": None,
        "incomplete_details": {"reason": cut} if cut else None,
        "instructions": generation.body.get("instructions"),
        "model": f"{generation.model}-2026",
        "output": [thought, item],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "metadata": {},
        "usage": {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + written,
        },
    }


def responses_stream(answer: dict[str, Any], piece: int) -> list[str]:
    item = answer["output"][-1]
    part = item["content"][0]
    is_text = part["type"] == "output_text"
    kind, words = ("output_text", part["text"]) if is_text else ("refusal", part["refusal"])
    at = {"item_id": item["id"], "output_index": 1, "content_index": 0}
    begun = {**answer, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    ending = "response.incomplete" if answer["status"] == "incomplete" else "response.completed"
    events: list[tuple[str, dict[str, Any]]] = [
        ("response.created", {"response": begun}),
        ("response.in_progress", {"response": begun}),
        ("response.output_item.added", {"output_index": 1, "item": {**item, "status": "in_progress", "content": []}}),
        ("response.content_part.added", {**at, "part": {**part, "text": ""} if is_text else part}),
        *(
            (f"response.{kind}.delta", {**at, "delta": words_part, "logprobs": []})
            for words_part in _pieces(words, piece)
        ),
        (f"response.{kind}.done", {**at, "text" if is_text else "refusal": words, "logprobs": []}),
        ("response.content_part.done", {**at, "part": part}),
        ("response.output_item.done", {"output_index": 1, "item": item}),
        (ending, {"response": answer}),
    ]
    return [
        f"event: {name}\ndata: {_as_json({'type': name, 'sequence_number': number, **fields})}\n\n"
        for number, (name, fields) in enumerate(events)
    ]


def _pieces(text: str, piece: int) -> list[str]:
    return [text[at : at + piece] for at in range(0, len(text), piece)]


# ------------------------------------------------------------------------------------------------ the server


class ModelServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.lock = threading.Lock()
        self.scenario: dict[str, Any] = json.loads(json.dumps(SCENARIO))
        self.log: list[dict[str, Any]] = []
        self.number = 0

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def set_scenario(self, fields: dict[str, Any], *, anew: bool) -> None:
        if unknown := fields.keys() - SCENARIO.keys():
            raise Refused(400, f"The scenario has no {sorted(unknown)}.")
        with self.lock:
            base = json.loads(json.dumps(SCENARIO)) if anew else self.scenario
            self.scenario = {**base, **fields}

    def next_step(self, raw: str) -> dict[str, Any]:
        """The first step of the queue that fits the request; it is used up unless it says ``times``."""
        with self.lock:
            queue = self.scenario["answers"]
            for at, step in enumerate(queue):
                if step.get("for", "") in raw:
                    left = step.get("times", 1) - 1
                    self.scenario["answers"] = (
                        queue[:at] + ([{**step, "times": left}] if left > 0 else []) + queue[at + 1 :]
                    )
                    return step
            return dict(self.scenario["otherwise"])

    def noted(self, entry: dict[str, Any]) -> dict[str, Any]:
        with self.lock:
            self.number += 1
            entry["number"] = self.number
            self.log.append(entry)
        return entry

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no news."""


class Handler(BaseHTTPRequestHandler):
    server: ModelServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    entry: dict[str, Any] | None = None  # What the log says of the request at hand; none for the controls.

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_PUT = do_DELETE = do_GET

    def log_message(self, format: str, *arguments: Any) -> None:
        """The log is over HTTP."""

    def _serve(self) -> None:
        self.entry = None  # One connection carries many requests.
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urlsplit(self.path).path
        try:
            if path.startswith("/_"):
                self._control(path, json.loads(raw or b"{}"))
            else:
                self._answer(path, raw)
        except Refused as refused:
            self._send_json(refused.status, refused.body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    # ---- control

    def _control(self, path: str, sent: Any) -> None:
        server = self.server
        match (self.command, path):
            case ("POST" | "PUT", "/_scenario"):
                server.set_scenario(sent, anew=self.command == "PUT")
                self._send_json(200, server.scenario)
            case ("GET", "/_scenario"):
                self._send_json(200, server.scenario)
            case ("GET", "/_log"):
                with server.lock:
                    self._send_json(200, server.log)
            case ("DELETE", "/_log"):
                with server.lock:
                    server.log.clear()
                self._send_json(200, [])
            case _:
                raise Refused(404, "There is no such control.")

    # ---- the service

    def _answer(self, path: str, raw: bytes) -> None:
        scenario = self.server.scenario
        entry = self.server.noted(
            {
                "method": self.command,
                "path": path,
                "headers": {name.lower(): value for name, value in self.headers.items()},
                "body": _read(raw),
                "step": None,
                "status": None,
                "whole": False,
            }
        )
        self.entry = entry
        if scenario["redirect_to"]:
            self._send(307, b"", "text/plain", {"Location": scenario["redirect_to"] + path})
            return
        if scenario["token"] is not None and self.headers.get("Authorization") != f"Bearer {scenario['token']}":
            given = (self.headers.get("Authorization") or "nothing").removeprefix("Bearer ")
            # The genuine services echo a part of what they were given.
            raise Refused(401, f"Incorrect API key provided: {given}.", code="invalid_api_key")
        match (self.command, path):
            case ("GET", "/v1/models") if scenario["models"] is not None:
                self._send_json(200, {"object": "list", "data": [_model(name) for name in scenario["models"]]})
            case ("POST", "/v1/chat/completions" | "/v1/responses"):
                self._generate("responses" if path.endswith("responses") else "chat_completions", scenario, entry)
            case _:
                raise Refused(404, f"Invalid URL ({self.command} {path})")

    def _generate(self, protocol: str, scenario: dict[str, Any], entry: dict[str, Any]) -> None:
        if protocol not in scenario["protocols"]:
            raise Refused(scenario["unsupported_status"], "Invalid request.")
        if not isinstance(entry["body"], dict):
            raise Refused(400, "We could not parse the JSON body of your request.")
        generation = Generation(protocol, entry["body"])
        check(generation, scenario)
        step = self.server.next_step(generation.raw)
        entry["step"] = step
        time.sleep(step.get("delay", 0))
        if step.get("cut") == "before":
            self._cut()
        elif "status" in step:
            self._refuse(step)
        elif "content_type" in step:
            self._send(200, b"<html><body>Please sign in.</body></html>", step["content_type"])
        elif "body" in step:
            self._send_json(200, step["body"])
        else:
            self._speak(generation, step, scenario, entry["number"])

    def _refuse(self, step: dict[str, Any]) -> None:
        message = step.get("message", f"The double was told to answer {step['status']}.")
        refused = Refused(step["status"], message, code=step.get("code"), param=step.get("param"))
        extra = {"Retry-After": str(step["retry_after"])} if "retry_after" in step else {}
        self._send_json(refused.status, refused.body, extra)

    def _speak(self, generation: Generation, step: dict[str, Any], scenario: dict[str, Any], number: int) -> None:
        text = answer_text(step, generation)
        if generation.format["type"] != "text" and scenario["structured"] == "ignored" and "fit" in step:
            text = GARBAGE_PROSE
        is_chat = generation.protocol == "chat_completions"
        answer = (chat_answer if is_chat else responses_answer)(generation, text, step, number)
        if not scenario["usage"]:
            del answer["usage"]
        if scenario["streaming"] == "ignored" or not (generation.streams or scenario["streaming"] == "always"):
            self._send_whole(answer, step)
            return
        piece = scenario["piece"]
        self._stream(chat_stream(answer, generation, piece) if is_chat else responses_stream(answer, piece), step)

    def _send_whole(self, answer: dict[str, Any], step: dict[str, Any]) -> None:
        if "cut" not in step:
            self._send_json(200, answer)
            return
        content = _as_json(answer).encode()
        self._head(200, "application/json", {"Content-Length": str(len(content))})
        self.wfile.write(content[: len(content) // 2])
        self._cut()

    def _stream(self, events: list[str], step: dict[str, Any]) -> None:
        self._head(200, "text/event-stream; charset=utf-8", {"Transfer-Encoding": "chunked"})
        half = len(events) // 2
        last = {"middle": half, "quiet": half, "end": len(events) - 2}.get(step.get("cut", ""), len(events))
        for event in events[:last]:
            content = event.encode()
            self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
            self.wfile.flush()
            time.sleep(step.get("pause", 0))
        if step.get("cut", "quiet") != "quiet":
            self._cut()
            return
        self.wfile.write(b"0\r\n\r\n")
        if self.entry is not None:
            self.entry["whole"] = True

    def _cut(self) -> None:
        """Break the connection the hard way: the other side sees a reset or an early end."""
        with suppress(OSError):
            self.wfile.flush()
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def _send_json(self, status: int, body: Any, extra: dict[str, str] | None = None) -> None:
        self._send(status, _as_json(body).encode(), "application/json", extra)

    def _send(self, status: int, content: bytes, kind: str, extra: dict[str, str] | None = None) -> None:
        self._head(status, kind, {"Content-Length": str(len(content)), **(extra or {})})
        self.wfile.write(content)
        if self.entry is not None:
            self.entry["whole"] = True

    def _head(self, status: int, kind: str, extra: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if self.entry is not None:
            self.entry["status"] = status
            self.send_header("x-request-id", f"req_{self.entry['number']}")
        for name, value in extra.items():
            self.send_header(name, value)
        self.end_headers()


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 1_790_000_000, "owned_by": "double", "context_length": 32_768}


def _read(raw: bytes) -> Any:
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return raw.decode("utf-8", "replace")


def main() -> None:
    parser = argparse.ArgumentParser(description="A model server without a model.")
    parser.add_argument("--port", type=int, default=0)
    server = ModelServer(parser.parse_args().port)
    print(server.port, flush=True)
    with suppress(KeyboardInterrupt):
        server.serve_forever(poll_interval=0.05)


if __name__ == "__main__":
    main()
