"""A mirror of Hugging Face with the files of one folder as the model of every name: ``with ModelHub(folder) as hub``.

It speaks as much as a download needs: the facts of a repository, its tree, and its files.
"""

import hashlib
import json
from pathlib import Path
from urllib.parse import urlsplit

from tests.doubles.web import Request, Response, WebDouble

REVISION = "0123456789abcdef0123456789abcdef01234567"


class ModelHub(WebDouble):
    methods = ("GET", "HEAD")

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.asked: list[str] = []

    def answer(self, request: Request) -> Response:
        path = urlsplit(request.path).path
        self.asked.append(path)
        files = {file.name: file.read_bytes() for file in sorted(self.folder.iterdir())}
        parts = path.strip("/").split("/")
        if parts[:2] == ["api", "models"] and "tree" in parts:
            tree = [
                {"type": "file", "path": name, "size": len(content), "oid": _etag(content)}
                for name, content in files.items()
            ]
            return Response(200, json.dumps(tree).encode())
        if parts[:2] == ["api", "models"]:
            told = {"id": "/".join(parts[2:4]), "sha": REVISION, "siblings": [{"rfilename": name} for name in files]}
            return Response(200, json.dumps(told).encode())
        if "resolve" in parts and parts[-1] in files:
            content = files[parts[-1]]
            return Response(200, content, {"ETag": f'"{_etag(content)}"', "X-Repo-Commit": REVISION})
        if not path.strip("/"):
            return Response(200, b"")
        return Response(404, b"{}", {"X-Error-Code": "EntryNotFound"})


def _etag(content: bytes) -> str:
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()
