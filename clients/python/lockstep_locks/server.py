"""Requests to Elasticsearch, with the standard library alone."""
import base64
import http.client
import json
import ssl
import threading
import urllib.parse

from .errors import LockstepError

def may_work_later(status, error):
    """Also if a circuit breaker stopped it, such as the limit of scripts that are compiled in a minute, whatever the status; and
    if an index of locks was deleted: the next write makes it again."""
    cause = error if isinstance(error, dict) else {}
    kind = cause.get("type")
    while isinstance(cause.get("caused_by"), dict):
        cause = cause["caused_by"]
    return status in (408, 429) or status >= 500 or kind == "index_not_found_exception" or \
        cause.get("type") == "circuit_breaking_exception"


def reason_of(error):
    """In words, with the innermost cause, which is what helps."""
    if not isinstance(error, dict):
        return str(error)
    words, cause = f"{error.get('type')}: {error.get('reason')}", error
    while isinstance(cause.get("caused_by"), dict):
        cause = cause["caused_by"]
    return words if cause is error else f"{words}: {cause.get('reason')}"


def quoted(part):
    return urllib.parse.quote(part, safe="")


class Server:
    """One connection, for one request at a time. A node that does not answer is passed over."""

    def __init__(self, urls, timeout, api_key=None, username=None, password=None, ca_file=None):
        self._urls = [urllib.parse.urlsplit(url) for url in ([urls] if isinstance(urls, str) else urls)]
        self._timeout = timeout
        self._context = ssl.create_default_context(cafile=ca_file) if ca_file else None
        self._headers = {}
        if api_key is not None:
            self._headers["Authorization"] = f"ApiKey {api_key}"
        elif username is not None:
            secret = base64.b64encode(f"{username}:{password or ''}".encode()).decode()
            self._headers["Authorization"] = f"Basic {secret}"
        self._connection = None
        self._turn = threading.Lock()

    def request(self, doing, method, path, body=None, accepted=()):
        """The status and the parsed reply. Raises LockstepError for any status but 2xx and those `accepted`.
        A request may arrive twice: its answer is lost with a connection."""
        data = None if body is None else (body if isinstance(body, bytes) else json.dumps(body).encode())
        content = "application/x-ndjson" if isinstance(body, bytes) else "application/json"
        status, text = self._send(doing, method, path, data, {**self._headers, "Content-Type": content})
        try:
            reply = json.loads(text or b"{}")
        except ValueError:
            raise LockstepError(f"{doing}: HTTP {status}: the reply is no JSON; is there a proxy in between?", True) from None
        if 200 <= status <= 299 or status in accepted:
            return status, reply
        error = reply.get("error", reply) if isinstance(reply, dict) else reply
        raise LockstepError(f"{doing}: HTTP {status} {reason_of(error)}", may_work_later(status, error))

    def close(self):
        with self._turn:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _send(self, doing, method, path, data, headers):
        with self._turn:
            for tried in range(len(self._urls) + 1):
                try:
                    if self._connection is None:
                        self._connection = self._connect()
                    self._connection.request(method, self._urls[0].path.rstrip("/") + path, data, headers)
                    response = self._connection.getresponse()
                    return response.status, response.read()
                except (OSError, http.client.HTTPException) as error:
                    if self._connection is not None:
                        self._connection.close()
                        self._connection = None
                    # The first failure may be that of a kept connection.
                    if tried > 0:
                        self._urls.append(self._urls.pop(0))
                    failure = error
            raise LockstepError(f"{doing}: {failure}", True) from failure

    def _connect(self):
        url = self._urls[0]
        if url.scheme == "https":
            return http.client.HTTPSConnection(url.hostname, url.port or 443, timeout=self._timeout, context=self._context)
        return http.client.HTTPConnection(url.hostname, url.port or 9200, timeout=self._timeout)
