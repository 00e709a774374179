# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over its debugging pipe: opens a file, evaluates, clicks, types, takes pictures."""
import base64
import contextlib
import json
import os
import pathlib
import select
import subprocess
import tempfile
import time


class Browser:
    """Use it in a `with`. What the page complains of is gathered in `complaints`, requests to anything but files in `requests`."""

    def __init__(self, program, width=1300, height=900, dark=False):
        self.folder = tempfile.TemporaryDirectory(prefix="chromium-")
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-background-networking", "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}",
                   f"--window-size={width},{height}", "about:blank"]

        def pass_pipes():
            # Copies first: the numbers 3 and 4 may be taken by the other pipe.
            ends = [os.dup(to_browser), os.dup(from_browser)]
            high = [os.dup2(end, 60 + number) for number, end in enumerate(ends)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(command, preexec_fn=pass_pipes, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env=dict(os.environ, HOME=self.folder.name))
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.complaints = []
        self.requests = []
        target = next(one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError, TimeoutError):
            self.session = None
            self.call("Browser.close")
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        with contextlib.suppress(OSError):  # a helper process of the browser may still be writing
            self.folder.cleanup()

    def _receive(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.read_end, 1 << 20)
            if not part:
                raise OSError("the browser has ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def _note(self, event):
        method, words = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(words["exceptionDetails"].get("exception", {}).get("description", str(words)))
        elif method == "Runtime.consoleAPICalled" and words["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(words["args"]))
        elif method == "Log.entryAdded" and words["entry"]["level"] in ("error", "warning"):
            self.complaints.append(words["entry"]["text"])
        elif method == "Network.requestWillBeSent" and not words["request"]["url"].startswith(("file:", "data:", "about:")):
            self.requests.append(words["request"]["url"])

    def call(self, method, timeout=60, **words):
        self.number += 1
        message = {"id": self.number, "method": method, "params": words}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        deadline = time.monotonic() + timeout
        while True:
            answer = self._receive(deadline)
            if answer.get("id") != self.number:
                self._note(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def open(self, path, timeout=120, fragment=""):
        address = pathlib.Path(path).resolve().as_uri() + fragment
        self.call("Page.navigate", url="about:blank")  # else only the fragment may change
        self.call("Page.navigate", timeout, url=address)
        deadline = time.monotonic() + timeout
        loaded = f"document.readyState === 'complete' && location.href.startsWith({json.dumps(address.split('#')[0])})"
        while not self.evaluate(loaded):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{address} is not loaded")
            time.sleep(0.02)
        return self

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description", str(answer)))
        return answer["result"].get("value")

    def click(self, selector):
        """As a user does: with the mouse, in the middle of what is there."""
        box = self.evaluate(f"""(() => {{ const it = document.querySelector({json.dumps(selector)});
          it.scrollIntoView({{block: 'center'}}); const box = it.getBoundingClientRect();
          return [box.x + box.width / 2, box.y + box.height / 2]; }})()""")
        for kind in ["mousePressed", "mouseReleased"]:
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def key(self, name):
        for kind in ["keyDown", "keyUp"]:
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                      windowsVirtualKeyCode={"Escape": 27, "Enter": 13}.get(name, 0), text="\r" if name == "Enter" else "")

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")

    def texts(self, selector):
        return self.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => one.textContent)")

    def data(self, selector, name):
        return self.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => one.dataset[{json.dumps(name)}])")

    def picture(self, path, whole=True):
        words = {"captureBeyondViewport": whole}
        if whole:
            width, height = self.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
            words["clip"] = {"x": 0, "y": 0, "width": width, "height": min(height, 4000), "scale": 1}
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png", **words)["data"]))
