"""A server that answers as the Hugging Face hub does, and one that holds its large files, as its
CDN does."""

import hashlib
import http.server
import json
import re
import threading
import time
import urllib.parse

LARGE = (".safetensors", ".gguf", ".spm")  # files in large file storage


def git_hash(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def blob_hash(name, data):
    return hashlib.sha256(data).hexdigest() if name.endswith(LARGE) else git_hash(data)


def pull(
    num,
    files,
    author="SFconvertbot",
    status="open",
    title="Adding `safetensors` variant of this model",
    is_pull=True,
):
    """A pull request, as Hub.pulls has them."""
    return {
        "num": num,
        "files": files,
        "author": author,
        "status": status,
        "title": title,
        "pull": is_pull,
    }


class Hub:
    """repositories: {"owner/name": {file: bytes}}. What it does wrong is what a test sets;
    `requests` is what it was asked."""

    def __init__(self, repositories):
        self.repositories = {
            name: {file: bytes(data) for file, data in files.items()}
            for name, files in repositories.items()
        }
        # Repository → its discussions (pull); a whole answer about them.
        self.pulls, self.said_of_pulls = ({}, None)
        # Old name → new; repository → the token that reads it; file → what the list says of it.
        self.renamed, self.tokens, self.said = ({}, {}, {})
        # File → bytes after which the connection ends, and how often; file → what comes in its
        # place.
        self.cut, self.cuts, self.altered = ({}, {}, {})
        # a whole answer; path → status; file → bytes after its end; seconds between pieces
        self.listing, self.status, self.more, self.slow = (None, {}, {}, 0)
        self.has_blobs, self.ranges, self.requests = True, True, []
        self.hub, self.cdn = self._serve(self._of_hub), self._serve(self._of_cdn)
        self.endpoint, self.store = (
            f"http://127.0.0.1:{s.server_address[1]}" for s in (self.hub, self.cdn)
        )

    def commit(self, repository, files=None):
        return hashlib.sha1(
            repository.encode()
            + b"".join(
                n.encode() + d
                for n, d in sorted(
                    (self.repositories[repository] if files is None else files).items()
                )
            )
        ).hexdigest()

    def held(self, repository, revision):
        """The files of a revision: main, refs/pr/N or a commit; None: there is none."""
        named = {"main": self.repositories[repository]} | {
            f"refs/pr/{pull['num']}": pull["files"] for pull in self.pulls.get(repository, [])
        }
        named.setdefault("refs/pr/1", named["main"])
        return (named | {self.commit(repository, files): files for files in named.values()}).get(
            revision
        )

    def asked(self, part, method="GET"):
        """Paths with this in them."""
        return [path for where, asked, path, _ in self.requests if asked == method and part in path]

    def close(self):
        for server in (self.hub, self.cdn):
            server.shutdown()
            server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _serve(self, answer):
        hub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                hub.requests.append((answer.__name__, self.command, self.path, dict(self.headers)))
                try:
                    answer(self)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            do_HEAD = do_GET

            def handle(self):
                try:
                    super().handle()
                except ConnectionResetError:  # the client has gone
                    pass

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return server

    def _of_hub(self, h):
        path = urllib.parse.urlsplit(h.path).path
        listed = re.fullmatch(
            r"/api/models/([^/]+(?:/(?!revision/)[^/]+)?)(?:/revision/([^/]+))?", path
        )
        tree = re.fullmatch(r"/api/models/(.+)/tree/([^/]+)", path)
        pulls = re.fullmatch(r"/api/models/(.+)/discussions", path)
        file = re.fullmatch(r"/(.+?)/resolve/([^/]+)/(.+)", path)
        asked = tree or pulls or listed or file
        repository = asked[1] if asked else ""
        if path in self.status:
            return self._end(h, self.status[path])
        if repository in self.renamed:
            return self._end(
                h, 307, {"Location": h.path.replace(repository, self.renamed[repository], 1)}
            )
        if repository not in self.repositories:
            return self._end(h, 401, {"X-Error-Code": "RepoNotFound"})
        token = self.tokens.get(repository)
        if token and h.headers.get("Authorization") != f"Bearer {token}":
            return self._end(
                h, 401, {"X-Error-Code": "GatedRepo"} if h.headers.get("Authorization") else {}
            )
        if pulls:
            return self._say(
                h,
                self.said_of_pulls
                or self._pulls(
                    repository, urllib.parse.parse_qs(urllib.parse.urlsplit(h.path).query)
                ),
            )
        held = self.held(repository, urllib.parse.unquote(asked[2] or "main"))
        if held is None:
            return self._end(h, 404, {"X-Error-Code": "RevisionNotFound"})
        if tree:
            return self._say(h, self._tree(held))
        if listed:
            return self._say(
                h, self.listing if self.listing is not None else self._list(repository, held)
            )
        self._file(h, repository, held, urllib.parse.unquote(file[3]))

    def _say(self, h, answer):
        self._send(
            h,
            200,
            answer if isinstance(answer, bytes) else json.dumps(answer).encode(),
            {"Content-Type": "application/json"},
        )

    def _pulls(self, repository, asked, page=2):
        """A page of the discussions of an author."""
        (author,), (kind,), (at,) = (
            asked.get(name, [other])
            for name, other in (("author", None), ("type", "all"), ("p", "0"))
        )
        meant = [
            p
            for p in self.pulls.get(repository, [])
            if author in (None, p["author"]) and (kind == "all" or p["pull"])
        ]
        row = lambda p: {
            "num": p["num"],
            "title": p["title"],
            "status": p["status"],
            "isPullRequest": p["pull"],
            "author": {"name": p["author"], "type": "user"},
            "createdAt": "2023-03-01T10:00:00.000Z",
        }
        return {
            "discussions": [row(p) for p in meant[int(at) * page : (int(at) + 1) * page]],
            "count": len(meant),
            "start": int(at) * page,
        }

    def _list(self, repository, held):
        siblings = []
        for name, data in held.items():
            of = {"rfilename": name}
            if self.has_blobs:
                of |= {"size": len(data), "blobId": git_hash(data)}
                if name.endswith(LARGE):
                    of["lfs"] = {
                        "sha256": blob_hash(name, data),
                        "size": len(data),
                        "pointerSize": 134,
                    }
            siblings.append(of | self.said.get(name, {}))
        return {
            "id": repository,
            "sha": self.commit(repository, held),
            "private": False,
            "siblings": siblings,
        }

    def _tree(self, held):
        large = lambda name: (
            {
                "lfs": {
                    "oid": blob_hash(name, held[name]),
                    "size": len(held[name]),
                    "pointerSize": 134,
                }
            }
            if name.endswith(LARGE)
            else {}
        )
        return [
            {"type": "file", "path": name, "size": len(data), "oid": git_hash(data), **large(name)}
            for name, data in held.items()
        ]

    def _file(self, h, repository, held, name):
        data = held.get(name)
        if data is None:
            return self._end(h, 404, {"X-Error-Code": "EntryNotFound"})
        headers = {
            "X-Repo-Commit": self.commit(repository, held),
            "ETag": f'"{git_hash(data)}"',
            "Accept-Ranges": "bytes",
        }
        if name.endswith(LARGE):
            at = f"{repository}/{self.commit(repository, held)}/{name}"
            headers |= {
                "X-Linked-Etag": f'"{blob_hash(name, data)}"',
                "X-Linked-Size": str(len(data)),
                "Location": f"{self.store}/{at}?signed=1",
            }
            return self._end(h, 302, headers)
        self._send(h, 200, self.altered.get(name, data), headers, name)

    def _of_cdn(self, h):
        owner, name, commit, file = urllib.parse.unquote(urllib.parse.urlsplit(h.path).path)[
            1:
        ].split("/", 3)
        if h.headers.get("Authorization"):
            return self._end(h, 400)  # as a signed address does
        self._send(
            h,
            200,
            self.altered.get(file, self.held(f"{owner}/{name}", commit)[file]),
            {"ETag": '"other"'},
            file,
        )

    def _end(self, h, status, headers=None):
        self._send(h, status, b"", headers or {})

    def _send(self, h, status, body, headers, name=""):
        asked = re.fullmatch(r"bytes=(\d+)-", h.headers.get("Range") or "")
        begin = int(asked[1]) if asked and status == 200 and self.ranges else 0
        if begin:
            if begin >= len(body):
                return self._end(h, 416)
            status, headers = (
                206,
                headers | {"Content-Range": f"bytes {begin}-{len(body) - 1}/{len(body)}"},
            )
        body = body[begin:] + self.more.get(name, b"")
        h.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(body))}.items():
            h.send_header(key, value)
        h.end_headers()
        if h.command == "HEAD":
            return
        if name in self.cut and self.cuts.get(name, 1) > 0:
            self.cuts[name] = self.cuts.get(name, 1) - 1
            h.wfile.write(body[: self.cut[name]])
            h.close_connection = True
            return
        piece = 20_000 if self.slow else max(1, len(body))
        for at in range(0, len(body), piece):
            h.wfile.write(body[at : at + piece])
            time.sleep(self.slow)
