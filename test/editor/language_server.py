# SPDX-License-Identifier: Apache-2.0
"""A language server on its standard input and output, as an editor drives it. Used by the tests of this folder."""
import json
import os
import pathlib
import queue
import subprocess
import tempfile
import threading
import time


class Failure(Exception):
    """The server died, went silent or answered with an error; its text says which, with the end of its log."""


def as_uri(path):
    return pathlib.Path(path).absolute().as_uri()


class LanguageServer:
    """Starts the server and makes the handshake; what the user's own configuration says is kept from it."""

    def __init__(self, command, folder, patience=300):
        self.patience = patience
        self.versions = {}
        self.log = tempfile.TemporaryFile("w+", errors="replace")
        self.settings = tempfile.TemporaryDirectory()
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CLANGD_")}
        environment["XDG_CONFIG_HOME"] = environment["XDG_CACHE_HOME"] = self.settings.name
        self.process = subprocess.Popen([str(word) for word in command], cwd=folder, env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)
        self.messages = queue.Queue()
        self.published = {}  # URI -> the newest publication
        self.last_id = 0
        threading.Thread(target=self._read, daemon=True).start()
        capabilities = {"textDocument": {"publishDiagnostics": {
            "relatedInformation": True, "codeDescriptionSupport": True, "versionSupport": True}}}
        self.information = self.request("initialize", processId=os.getpid(), rootUri=as_uri(folder),
                                        capabilities=capabilities)
        self.notify("initialized")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.log.close()
        self.settings.cleanup()

    def _read(self):
        stream = self.process.stdout
        try:
            while True:
                length = 0
                while (line := stream.readline().strip()):
                    name, _, value = line.partition(b":")
                    if name.lower() == b"content-length":
                        length = int(value)
                if not length:
                    break
                self.messages.put(json.loads(stream.read(length)))
        except ValueError:  # the stream was closed or cut off
            pass
        self.messages.put(None)

    def _fail(self, what):
        self.log.seek(0)
        end = "\n".join(self.log.read().splitlines()[-25:])
        status = self.process.poll()
        raise Failure(f"{what} (exit status {status}); the end of the server's log:\n{end}")

    def _send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        try:
            self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            self.process.stdin.flush()
        except OSError:
            self._fail(f"the server does not read '{message.get('method')}'")

    def _receive(self, wait_for, until):
        """Handles one message; gives it back."""
        try:
            message = self.messages.get(timeout=max(0, until - time.monotonic()))
        except queue.Empty:
            self._fail(f"no {wait_for} in {self.patience} s")
        if message is None:
            self.process.wait(timeout=30)
            self._fail(f"the server ended before {wait_for}")
        if message.get("method") == "textDocument/publishDiagnostics":
            self.published[message["params"]["uri"]] = message["params"]
        elif "method" in message and "id" in message:  # a request of the server's; nothing here answers with more
            self._send(id=message["id"], result=None)
        return message

    def notify(self, method, **parameters):
        self._send(method=method, params=parameters)

    def request(self, method, **parameters):
        self.last_id += 1
        self._send(id=self.last_id, method=method, params=parameters or None)
        until = time.monotonic() + self.patience
        while True:
            message = self._receive(f"an answer to '{method}'", until)
            if message.get("id") == self.last_id and "method" not in message:
                if "error" in message:
                    self._fail(f"'{method}' was answered with {message['error']}")
                return message["result"]

    def open(self, path, text=None):
        text = pathlib.Path(path).read_text() if text is None else text
        self.versions[path] = 1
        self.notify("textDocument/didOpen", textDocument={
            "uri": as_uri(path), "languageId": "cpp", "version": 1, "text": text})

    def change(self, path, text):
        self.versions[path] += 1
        self.notify("textDocument/didChange", contentChanges=[{"text": text}],
                    textDocument={"uri": as_uri(path), "version": self.versions[path]})

    def diagnostics(self, path):
        """What is published for the newest version of an open file."""
        until = time.monotonic() + self.patience
        while True:
            newest = self.published.get(as_uri(path))
            if newest and newest.get("version") == self.versions[path]:
                return newest["diagnostics"]
            self._receive(f"diagnostics of {path}, version {self.versions[path]}", until)

    def close(self, path):
        self.notify("textDocument/didClose", textDocument={"uri": as_uri(path)})
        self.published.pop(as_uri(path), None)

    def shut_down(self):
        """Ends the server as an editor does; gives its exit status."""
        self.request("shutdown")
        return self.exit()

    def exit(self):
        self.notify("exit")
        return self.process.wait(timeout=self.patience)


def ours(diagnostics):
    """(line from 1, rule) of each of our diagnostics, in order."""
    prefix = "tensorscope-"
    return sorted((found["range"]["start"]["line"] + 1, found["code"].removeprefix(prefix))
                  for found in diagnostics if str(found.get("code", "")).startswith(prefix))
