"""The Helm chart fits the program and the repository, as far as that shows without helm; tests/packaging/chart_test.py renders it."""

import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "config/helm/lockstep"
TEMPLATES = {path.name: path.read_text() for path in sorted((CHART / "templates").iterdir())}
SCHEMA = json.loads((CHART / "values.schema.json").read_text())


def keys_of_values() -> set[str]:
    """Those of values.yaml, such as replicas and image.tag. What stands in one line, such as {cpu: 50m}, is a value."""
    found, parent = set(), ""
    for indent, key, value in re.findall(r"^( *)([A-Za-z]+):(?: +(\S.*))?$", (CHART / "values.yaml").read_text(), re.MULTILINE):
        if not indent:
            parent = key
        if indent or value:
            found.add(f"{parent}.{key}" if indent else key)
    return found


def keys_of_schema() -> set[str]:
    found = set()
    for name, schema in SCHEMA["properties"].items():
        inner = schema.get("properties")
        found.update({f"{name}.{key}" for key in inner} if inner else {name})
    return found - {"global"}  # Helm's own


class Chart(unittest.TestCase):
    def test_its_version_is_that_of_the_program(self):
        version = re.search(r"^project\(lockstep VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
        chart = (CHART / "Chart.yaml").read_text()
        self.assertEqual(re.findall(r"^(?:version|appVersion): (.*)$", chart, re.MULTILINE), [version, version])

    def test_alerts_and_dashboard_are_those_of_the_repository(self):
        files = {path.name: path.resolve() for path in (CHART / "files").iterdir()}
        self.assertEqual(files, {name: ROOT / "config" / name for name in ("alert-rules.yml", "grafana-dashboard.json")})
        asked = set(re.findall(r'Files\.Get "files/([^"]+)"', TEMPLATES["monitoring.yaml"]))
        self.assertEqual(asked, set(files))

    def test_each_value_has_a_type_and_a_use(self):
        self.assertEqual(keys_of_values(), keys_of_schema())
        text = "".join(TEMPLATES.values())
        unused = {key for key in keys_of_values() if f".Values.{key}" not in text and not re.search(rf"\.{key.split('.')[-1]}\b", text)}
        self.assertEqual(unused, {"resources.requests", "resources.limits"})  # they are used as a whole
        self.assertIn(".Values.resources", text)
        used = set(re.findall(r"\.Values\.([A-Za-z]+(?:\.[A-Za-z]+)?)", text))
        known = keys_of_schema() | set(SCHEMA["properties"])
        self.assertEqual(used - known, set())

    def test_the_probes_ask_for_what_the_program_serves(self):
        served = set(re.findall(r'server_\.Get\("(/\w+)"', (ROOT / "replicator/service/http_endpoint.cc").read_text()))
        probes = dict(re.findall(r"(liveness|readiness)Probe:\n +httpGet: \{path: ([^,]+),", TEMPLATES["deployment.yaml"]))
        self.assertEqual(probes, {"liveness": "/healthz", "readiness": "/readyz"})
        self.assertEqual(set(probes.values()) - served, set())
        asked_by_health = (ROOT / "replicator/cli/verbs/health.cc").read_text()
        for path in probes.values():
            self.assertIn(f'"{path}"', asked_by_health)

    def test_it_runs_the_image_as_the_image_is_made(self):
        image = (ROOT / "scripts/lib/package_portable.sh").read_text()
        self.assertIn('User: "65532:65532"', image)
        self.assertIn('"9464/tcp"', image)
        self.assertIn("LOCKSTEP_CONFIG=/etc/lockstep/lockstep.toml", image)
        helpers = TEMPLATES["_helpers.tpl"]
        for part in ("runAsUser: 65532", "runAsGroup: 65532", "mountPath: /etc/lockstep,"):
            self.assertIn(part, helpers)
        self.assertIn("containerPort: 9464", TEMPLATES["deployment.yaml"])
        self.assertIn("  lockstep.toml: {{ .Values.config", TEMPLATES["configuration.yaml"])


if __name__ == "__main__":
    unittest.main()
