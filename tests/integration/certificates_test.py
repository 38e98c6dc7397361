"""What `check` says of an Elasticsearch whose certificate cannot be trusted: which of the three reasons it is, and what to do."""
import http.server
import os
import sqlite3
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("LOCKSTEP_TEST_PROGRAM", os.path.join(ROOT, "build", "lockstep"))
KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


class Silent(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass


class CertificatesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.openssl("req", "-x509", *KEY, "-days", "1", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.crt")
        cls.certify("good", "DNS:localhost", 1)
        cls.certify("other", "DNS:elsewhere.example", 1)
        cls.certify("expired", "DNS:localhost", 0)  # now
        cls.certify("between", None, 1)
        cls.certify("below", "DNS:localhost", 1, authority="between")
        database = sqlite3.connect(os.path.join(cls.folder, "shop.db"))
        database.executescript("create table things (id integer primary key); create view documents as select id as _id from things;")
        database.close()
        cls.write("mapping.json", '{"settings": {}, "mappings": {}}')

    @classmethod
    def openssl(cls, *arguments):
        subprocess.run(["openssl", *arguments], cwd=cls.folder, check=True, capture_output=True)

    @classmethod
    def write(cls, name, content):
        with open(os.path.join(cls.folder, name), "w", encoding="utf-8") as file:
            file.write(content)

    @classmethod
    def certify(cls, name, host, days, authority="ca"):
        cls.write(f"{name}.names", f"subjectAltName={host}" if host else "basicConstraints=critical,CA:true")
        cls.openssl("req", *KEY, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        cls.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.crt", "-CAkey", f"{authority}.key", "-CAcreateserial",
                    "-days", str(days), "-extfile", f"{name}.names", "-out", f"{name}.crt")

    def check(self, certificate, trust):
        """What `lockstep check` says of a server with this certificate; None: without TLS."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(f"{self.folder}/{certificate}.crt", f"{self.folder}/{certificate}.key")
            server.socket = context.wrap_socket(server.socket, server_side=True)
        server.handle_error = lambda *_: None  # clients that hang up
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            self.write("lockstep.toml", f"""
                [source]
                url = "sqlite:shop.db"
                [elasticsearch]
                urls = ["https://localhost:{server.server_port}"]
                {trust}
                [[index]]
                alias = "things"
                mapping = "mapping.json"
                view = "documents"
                [[index.track]]
                table = "things"
                """)
            done = subprocess.run([PROGRAM, "check", "-c", f"{self.folder}/lockstep.toml"], capture_output=True, text=True, timeout=60)
        finally:
            server.shutdown()
            server.server_close()
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_an_expired_certificate_is_called_one(self):
        time.sleep(1.1)  # its last second; nothing else tells when that is over
        self.assertIn("has expired: renew it", self.check("expired", 'ca_file = "ca.crt"'))

    def test_an_unknown_authority_leads_to_ca_file(self):
        self.assertIn("check ca_file", self.check("good", ""))

    def test_another_host_leads_to_the_url(self):
        self.assertIn("check the url's host name", self.check("other", 'ca_file = "ca.crt"'))

    def test_a_chain_without_its_middle_leads_to_the_server(self):
        self.assertIn("the server must send the certificates in between", self.check("below", 'ca_file = "ca.crt"'))

    def test_a_file_of_authorities_that_has_none_is_named(self):
        self.assertIn("ca_file must have certificates in PEM", self.check("good", 'ca_file = "good.key"'))

    def test_a_key_of_another_certificate_is_named(self):
        self.assertIn("client_cert and client_key must be in PEM, and belong to each other",
                      self.check("good", 'ca_file = "ca.crt"\nclient_cert = "good.crt"\nclient_key = "other.key"'))

    def test_a_server_without_tls_is_not_called_a_matter_of_certificates(self):
        self.assertIn("does the server speak TLS at this port", self.check(None, 'ca_file = "ca.crt"'))

    def test_a_certificate_that_is_right_is_trusted(self):
        said = self.check("good", 'ca_file = "ca.crt"')  # the server knows no GET
        self.assertNotIn("certificate", said)
        self.assertIn("501", said)


if __name__ == "__main__":
    unittest.main()
