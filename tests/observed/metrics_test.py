"""What a running service tells Prometheus is what Prometheus wants to be told."""
import os
import select
import socket
import ssl
import subprocess
import tempfile
import threading
import unittest
import urllib.parse
import urllib.request

from browser import wait_until
from shop import ROOT, Shop, server


class TlsProxy:
    """https in front of an engine, with a certificate of its own that is good for 30 days."""

    def __init__(self, engine):
        self.folder = tempfile.TemporaryDirectory()
        self.certificate, key = (os.path.join(self.folder.name, name) for name in ("certificate.pem", "key.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=engine", "-addext",
                        "subjectAltName=IP:127.0.0.1", "-out", self.certificate, "-keyout", key], check=True, capture_output=True)
        parts = urllib.parse.urlsplit(engine)
        self.engine = (parts.hostname, parts.port)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.certificate, key)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.name = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept_all, daemon=True).start()

    def accept_all(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return  # closed
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            with self.context.wrap_socket(client, server_side=True) as safe, socket.create_connection(self.engine) as engine:
                while True:
                    ready = [safe] if safe.pending() else select.select([safe, engine], [], [])[0]
                    for source in ready:
                        data = source.recv(65536)
                        if not data:
                            return
                        (engine if source is safe else safe).sendall(data)
        except OSError:
            pass  # one of them is gone

    def close(self):
        self.listener.close()
        self.folder.cleanup()


class Certificates(unittest.TestCase):
    def test_how_long_the_certificate_of_the_server_is_good_for(self):
        proxy = TlsProxy(server("LOCKSTEP_TEST_ELASTICSEARCH", "scripts/engine start elasticsearch-7.10"))
        self.addCleanup(proxy.close)
        shop = Shop(f"https://{proxy.name}", f'ca_file = "{proxy.certificate}"')
        self.addCleanup(shop.close)
        sample = f'lockstep_certificate_expires_seconds{{pipeline="shop",server="{proxy.name}"}} '

        def left():
            with urllib.request.urlopen(shop.url + "metrics", timeout=5) as reply:
                return [float(line.removeprefix(sample)) for line in reply.read().decode().splitlines() if line.startswith(sample)]

        self.assertTrue(wait_until(left))
        self.assertAlmostEqual(left()[0] / 86400, 30, delta=0.1)


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shop = Shop()
        cls.addClassCleanup(cls.shop.close)

    def metrics(self):
        with urllib.request.urlopen(self.shop.url + "metrics", timeout=5) as reply:
            return reply.read().decode()

    def value(self, sample):
        """Of a sample of the pipeline without other labels."""
        for line in self.metrics().splitlines():
            if line.startswith(f'{sample}{{pipeline="shop"}} '):
                return float(line.split()[-1])
        raise AssertionError(f"there is no {sample}")

    def test_promtool_finds_nothing_to_say(self):
        checked = subprocess.run([f"{ROOT}/scripts/promtool", "check", "metrics"], input=self.metrics(), capture_output=True, text=True)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))

    def test_how_long_changes_took_is_counted_for_each_statement(self):
        count = "lockstep_commit_to_acknowledged_seconds_count"
        before = self.value(count)
        for price in range(3):
            self.shop.sql(f"update public.product set price = '{price}' where id <= 10")  # one row of the outbox
        self.assertTrue(wait_until(lambda: self.value(count) >= before + 3), self.metrics())
        self.assertGreater(self.value("lockstep_commit_to_acknowledged_seconds_sum"), 0)
        self.assertEqual(self.value("lockstep_commit_to_searchable_seconds_count"), 0, "Elasticsearch refreshes by itself here")


if __name__ == "__main__":
    unittest.main()
