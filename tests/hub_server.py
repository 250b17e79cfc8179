"""A server that answers as the Hugging Face hub does, and one that holds its large files, as its CDN does."""
import hashlib
import http.server
import json
import re
import threading
import time
import urllib.parse

LARGE = (".safetensors", ".gguf", ".spm")  # what lies in large file storage


def git_hash(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def blob_hash(name, data):
    return hashlib.sha256(data).hexdigest() if name.endswith(LARGE) else git_hash(data)


class Hub:
    """repositories: {"owner/name": {file: bytes}}. What it does wrong is what a test sets; `requests` is what it was asked."""

    def __init__(self, repositories):
        self.repositories = {name: {file: bytes(data) for file, data in files.items()} for name, files in repositories.items()}
        self.renamed, self.tokens, self.said = {}, {}, {}  # old name → new; repository → the token that reads it; file → what the list says of it
        self.cut, self.cuts, self.altered = {}, {}, {}  # file → bytes after which the connection ends, and how often; file → what comes in its place
        self.listing, self.status, self.more, self.slow = None, {}, {}, 0  # a whole answer; path → status; file → bytes behind its end; seconds between pieces
        self.has_blobs, self.ranges, self.requests = True, True, []
        self.hub, self.cdn = self._serve(self._of_hub), self._serve(self._of_cdn)
        self.endpoint, self.store = (f"http://127.0.0.1:{s.server_address[1]}" for s in (self.hub, self.cdn))

    def commit(self, repository):
        return hashlib.sha1(repository.encode() + b"".join(n.encode() + d for n, d in sorted(self.repositories[repository].items()))).hexdigest()

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
                except ConnectionResetError:  # who asked has gone
                    pass

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return server

    def _of_hub(self, h):
        path = urllib.parse.urlsplit(h.path).path
        listed = re.fullmatch(r"/api/models/([^/]+(?:/(?!revision/)[^/]+)?)(?:/revision/([^/]+))?", path)
        tree = re.fullmatch(r"/api/models/(.+)/tree/([^/]+)", path)
        held = re.fullmatch(r"/(.+?)/resolve/([^/]+)/(.+)", path)
        asked = tree or listed or held
        repository = asked[1] if asked else ""
        if path in self.status:
            return self._end(h, self.status[path])
        if repository in self.renamed:
            return self._end(h, 307, {"Location": h.path.replace(repository, self.renamed[repository], 1)})
        if repository not in self.repositories:
            return self._end(h, 401, {"X-Error-Code": "RepoNotFound"})
        token = self.tokens.get(repository)
        if token and h.headers.get("Authorization") != f"Bearer {token}":
            return self._end(h, 401, {"X-Error-Code": "GatedRepo"} if h.headers.get("Authorization") else {})
        commit, revision = self.commit(repository), urllib.parse.unquote(asked[2] or "main")
        if revision not in ("main", "refs/pr/1", commit):
            return self._end(h, 404, {"X-Error-Code": "RevisionNotFound"})
        if tree:
            return self._send(h, 200, json.dumps(self._tree(repository)).encode(), {"Content-Type": "application/json"})
        if listed:
            body = self.listing if self.listing is not None else json.dumps(self._list(repository)).encode()
            return self._send(h, 200, body, {"Content-Type": "application/json"})
        self._file(h, repository, commit, urllib.parse.unquote(held[3]))

    def _list(self, repository):
        siblings = []
        for name, data in self.repositories[repository].items():
            of = {"rfilename": name}
            if self.has_blobs:
                of |= {"size": len(data), "blobId": git_hash(data)}
                if name.endswith(LARGE):
                    of["lfs"] = {"sha256": blob_hash(name, data), "size": len(data), "pointerSize": 134}
            siblings.append(of | self.said.get(name, {}))
        return {"id": repository, "sha": self.commit(repository), "private": False, "siblings": siblings}

    def _tree(self, repository):
        held = self.repositories[repository]
        large = lambda name: {"lfs": {"oid": blob_hash(name, held[name]), "size": len(held[name]), "pointerSize": 134}} if name.endswith(LARGE) else {}
        return [{"type": "file", "path": name, "size": len(data), "oid": git_hash(data), **large(name)} for name, data in held.items()]

    def _file(self, h, repository, commit, name):
        data = self.repositories[repository].get(name)
        if data is None:
            return self._end(h, 404, {"X-Error-Code": "EntryNotFound"})
        headers = {"X-Repo-Commit": commit, "ETag": f'"{git_hash(data)}"', "Accept-Ranges": "bytes"}
        if name.endswith(LARGE):
            headers |= {"X-Linked-Etag": f'"{blob_hash(name, data)}"', "X-Linked-Size": str(len(data)), "Location": f"{self.store}/{repository}/{name}?signed=1"}
            return self._end(h, 302, headers)
        self._send(h, 200, self.altered.get(name, data), headers, name)

    def _of_cdn(self, h):
        owner, name, file = urllib.parse.unquote(urllib.parse.urlsplit(h.path).path)[1:].split("/", 2)
        if h.headers.get("Authorization"):
            return self._end(h, 400)  # as a signed address does
        self._send(h, 200, self.altered.get(file, self.repositories[f"{owner}/{name}"][file]), {"ETag": '"other"'}, file)

    def _end(self, h, status, headers={}):
        self._send(h, status, b"", headers)

    def _send(self, h, status, body, headers, name=""):
        asked = re.fullmatch(r"bytes=(\d+)-", h.headers.get("Range") or "")
        begin = int(asked[1]) if asked and status == 200 and self.ranges else 0
        if begin:
            if begin >= len(body):
                return self._end(h, 416)
            status, headers = 206, headers | {"Content-Range": f"bytes {begin}-{len(body) - 1}/{len(body)}"}
        body = body[begin:] + self.more.get(name, b"")
        h.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(body))}.items():
            h.send_header(key, value)
        h.end_headers()
        if h.command == "HEAD":
            return
        if name in self.cut and self.cuts.get(name, 1) > 0:
            self.cuts[name] = self.cuts.get(name, 1) - 1
            h.wfile.write(body[:self.cut[name]])
            h.close_connection = True
            return
        piece = 20_000 if self.slow else max(1, len(body))
        for at in range(0, len(body), piece):
            h.wfile.write(body[at:at + piece])
            time.sleep(self.slow)
