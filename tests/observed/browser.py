"""Debian's Chromium without a window, driven over the WebDriver protocol."""
import base64
import json
import os
import shutil
import socket
import subprocess
import time
import unittest
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def wait_until(what, patience=30.0):
    """Asks again and again; returns the first true answer, or the last one."""
    deadline = time.monotonic() + patience
    while not (answer := what()) and time.monotonic() < deadline:
        time.sleep(0.05)  # between two questions
    return answer


class Browser:
    """One window. `scheme` is "light" or "dark"."""

    def __init__(self, width=1280, height=1000, scheme="light"):
        for program in ("chromedriver", "chromium"):
            if not shutil.which(program):
                raise unittest.TestCase.failureException(f"{program} is missing; install it with scripts/install")
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.session = None
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}", "--silent"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        try:
            if not wait_until(self.is_ready):
                raise RuntimeError("chromedriver does not answer")
            arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars",
                         f"--window-size={width},{height}"]
            if scheme == "dark":
                arguments.append("--blink-settings=preferredColorScheme=0")
            options = {"args": arguments, "binary": shutil.which("chromium"), "mobileEmulation": {"deviceMetrics": {
                "width": width, "height": height, "pixelRatio": 1.0}}}
            wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            self.session = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.session:
            self.ask("DELETE", f"/session/{self.session}")
        self.driver.terminate()
        self.driver.wait()

    def is_ready(self):
        try:
            return self.ask("GET", "/status")["ready"]
        except (urllib.error.URLError, OSError):
            return False

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def do(self, method, path, body=None):
        return self.ask(method, f"/session/{self.session}{path}", body)

    def open(self, url):
        self.do("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """What the script returns."""
        return self.do("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def text(self, selector="body"):
        """As a person sees it: what is hidden is not there."""
        return self.run("const found = document.querySelector(arguments[0]); return found && found.checkVisibility() ? found.innerText : ''", selector)

    def shows(self, text, selector="body"):
        """Whether it is to be seen soon."""
        return bool(wait_until(lambda: text in self.text(selector)))

    def press(self, selector, keys):
        found = self.do("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]
        self.do("POST", f"/element/{found}/value", {"text": keys})

    def click(self, selector):
        found = self.do("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]
        self.do("POST", f"/element/{found}/click", {})

    def complaints(self):
        """What the browser itself complained of: errors of scripts, and what the page's policy forbids."""
        return [entry["message"] for entry in self.do("POST", "/se/log", {"type": "browser"}) if entry["level"] == "SEVERE"]

    def save_picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.do("GET", "/screenshot")))
        return os.path.abspath(path)
