"""The Helm chart as helm renders it: every object is one that Kubernetes takes, the configuration one that the program loads, and wrong
values are refused by name. LOCKSTEP_BUILD names the build. scripts/helm builds helm at the first call, which takes minutes."""

import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "docs"))
os.environ.setdefault("LOCKSTEP_TEST_PROGRAM", str(pathlib.Path(os.environ.get("LOCKSTEP_BUILD", ROOT / "build")) / "lockstep"))
from commands_test import PROGRAM, command_of, fault_of_command  # noqa: E402

CHART = ROOT / "config/helm/lockstep"
ALERTS = ROOT / "config/alert-rules.yml"
# The schemas of the Kubernetes API, as a package of PyPI has them; only its data is used.
SCHEMAS, SCHEMAS_SHA256 = "kubernetes-validate==1.37.0", "85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9"
VERSIONS = ("1.27", "1.37")  # the oldest of Chart.yaml, the newest of the schemas
OPERATOR = {"ServiceMonitor", "PrometheusRule"}  # of the Prometheus operator, not of Kubernetes
TOML = """
pipeline = "shop"
[source]
url           = "postgresql://lockstep@db/shop?sslmode=verify-full"
password_file = "/run/secrets/lockstep-shop/postgresql.password"
[elasticsearch]
urls         = ["https://es:9200"]
ca_file      = "/run/secrets/es-certs/ca.crt"
api_key_file = "/run/secrets/lockstep/api.key"
[http]
listen = "0.0.0.0:9464"
[[index]]
alias   = "products"
mapping = "products.json"
view    = "search.products"
[[index.track]]
table = "shop.products"
"""
SMALL = {"existingConfigMap": "shop", "existingSecrets": ["shop"], "replicas": 1}
LARGE = {
    "config": TOML,
    "files": {"products.json": '{"settings": {}, "mappings": {"properties": {"name": {"type": "text"}}}}\n'},
    "existingSecrets": ["lockstep-shop", "es-certs"],
    "secrets": {"api.key": "a: key\n"},
    "apply": {"enabled": True, "ownerUrlSecret": "shop-owner"},
    "image": {"repository": "registry.example/lockstep", "tag": "1.2.3", "pullSecrets": ["registry"]},
    "tolerations": [{"key": "search", "operator": "Exists"}],
    "monitoring": {"serviceMonitor": True, "prometheusRule": True, "rulesConfigMap": True, "dashboardConfigMap": True,
                   "labels": {"release": "prometheus"}},
}


def cache() -> pathlib.Path:
    script = f'source "{ROOT}/scripts/lib/message.sh"; source "{ROOT}/scripts/lib/cache.sh"; cache_folder'
    return pathlib.Path(subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.strip())


def schemas() -> pathlib.Path:
    wheel = cache() / "kubernetes-schemas-1.37.0.whl"
    if not wheel.exists():
        wheel.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=wheel.parent) as folder:
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, SCHEMAS], check=True)
            (file,) = pathlib.Path(folder).iterdir()
            file.rename(wheel)
    if hashlib.sha256(wheel.read_bytes()).hexdigest() != SCHEMAS_SHA256:
        raise AssertionError(f"{wheel} is not the file that is pinned; remove it")
    return wheel


class Schemas:
    """Of one version of Kubernetes: refuses what the API server refuses, and fields that it would drop."""

    TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float), "null": type(None)}

    def __init__(self, version):
        self.archive = zipfile.ZipFile(schemas())
        self.folder = f"kubernetes_validate/kubernetes-json-schema/v{version}.0-local-strict"
        self.definitions = self.read("_definitions")["$defs"]

    def read(self, name):
        return json.loads(self.archive.read(f"{self.folder}/{name}.json"))

    def faults(self, thing):
        group = re.sub(r"^([^./]*)(?:\.[^/]*)?/", r"\1-", thing["apiVersion"])  # apps-v1, v1
        return list(self.look(thing, self.read(f"{thing['kind'].lower()}-{group}"), thing["kind"]))

    def is_of(self, value, name):
        return isinstance(value, self.TYPES[name]) and (name == "boolean" or not isinstance(value, bool))

    def look(self, value, schema, path):
        if "$ref" in schema:
            yield from self.look(value, self.definitions[schema["$ref"].rpartition("/")[2]], path)
            return
        types = schema.get("type", [])
        types = [types] if isinstance(types, str) else types
        if types and not any(self.is_of(value, each) for each in types):
            yield f"{path}: {value!r} is no {types}"
            return
        if "enum" in schema and value not in schema["enum"]:
            yield f"{path}: {value!r} is none of {schema['enum']}"
        if "oneOf" in schema and not any(not list(self.look(value, each, path)) for each in schema["oneOf"]):
            yield f"{path}: {value!r} is none of its kinds"
        if isinstance(value, list):
            for number, each in enumerate(value):
                yield from self.look(each, schema.get("items", {}), f"{path}[{number}]")
        if isinstance(value, dict):
            yield from (f"{path}: no {name}" for name in schema.get("required", []) if name not in value)
            known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
            for name, each in value.items():
                if name in known or isinstance(others, dict):
                    yield from self.look(each, known.get(name, others), f"{path}.{name}")
                elif others is False:
                    yield f"{path}: there is no {name}"


class ChartTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="lockstep-chart-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        # Helm's own YAML, which is that of Kubernetes, turns what is rendered into JSON, which Python can read.
        templates = cls.folder / "to-json" / "templates"
        templates.mkdir(parents=True)
        (templates.parent / "Chart.yaml").write_text("apiVersion: v2\nname: to-json\nversion: 1.0.0\n")
        (templates / "all.yaml").write_text('{{ range splitList "\\n---\\n" (.Files.Get "all.yaml") }}\n---\n{{ fromYaml . | toJson }}\n{{ end }}')
        cls.small, cls.large = cls.objects(SMALL), cls.objects(LARGE)

    @classmethod
    def helm(cls, *arguments, values=None):
        given = []
        if values is not None:
            file = cls.folder / "values.json"
            file.write_text(json.dumps(values))
            given = ["-f", file]
        done = subprocess.run([ROOT / "scripts/helm", *arguments, *given], capture_output=True, text=True)
        # It reports each symbolic link that it follows.
        done.stderr = "".join(line for line in done.stderr.splitlines(True) if "found symbolic link" not in line)
        return done

    @classmethod
    def render(cls, values, chart=CHART):
        done = cls.helm("template", "shop", chart, "--namespace", "search", values=values)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout

    @classmethod
    def from_yaml(cls, text):
        (cls.folder / "to-json" / "all.yaml").write_text(text.removeprefix("---\n"))
        done = cls.helm("template", cls.folder / "to-json")
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    @classmethod
    def objects(cls, values):
        """What is rendered, by kind and name."""
        rendered = cls.render(values)
        found = {(each["kind"], each["metadata"]["name"]): each for each in cls.from_yaml(rendered)}
        assert len(found) == len(re.findall(r"^# Source:", rendered, re.MULTILINE)), rendered
        return found

    def notes(self, values):
        """What helm prints after an installation. It asks a cluster first, so a copy of the chart has them as a template."""
        copy = self.folder / "notes" / "lockstep"
        shutil.rmtree(copy.parent, ignore_errors=True)
        shutil.copytree(CHART, copy)
        (copy / "templates" / "NOTES.txt").rename(copy / "NOTES.txt")
        (copy / "templates" / "notes.yaml").write_text('notes: {{ tpl (.Files.Get "NOTES.txt") . | toJson }}')
        (found,) = [each["notes"] for each in self.from_yaml(self.render(values, copy)) if "notes" in each]
        return found

    @staticmethod
    def pod(thing):
        return thing["spec"]["template"]

    def refusal(self, values):
        done = self.helm("template", "shop", CHART, values=values)
        self.assertNotEqual(done.returncode, 0, values)
        return done.stderr

    def test_helm_finds_nothing_to_improve(self):
        for values in (SMALL, LARGE):
            done = self.helm("lint", "--strict", CHART, values=values)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_object_is_one_that_kubernetes_takes(self):
        for version in VERSIONS:
            known = Schemas(version)
            for objects in (self.small, self.large):
                for (kind, name), each in objects.items():
                    if kind not in OPERATOR:
                        self.assertEqual(known.faults(each), [], f"{kind} {name}, Kubernetes {version}")

    def test_an_object_that_kubernetes_refuses_is_found(self):
        known = Schemas(VERSIONS[-1])
        deployment = json.dumps(self.large["Deployment", "shop-lockstep"])
        for right, wrong in [('"replicas": 2', '"replicas": "two"'), ('"replicas": 2', '"replica": 2'), ('"port": "http"', '"port": true'),
                             ('"image": ', '"images": '), ('"name": "lockstep"', '"title": "lockstep"'), ('"name": "http"', '"name": 5')]:
            self.assertIn(right, deployment)
            self.assertNotEqual(known.faults(json.loads(deployment.replace(right, wrong))), [], wrong)

    def test_the_program_loads_its_configuration(self):
        for kind, name, suffix in [("Deployment", "shop-lockstep", ""), ("Job", "shop-lockstep-apply", "-apply")]:
            pod = self.pod(self.large[kind, name])["spec"]
            volumes = {each["name"]: each for each in pod["volumes"]}
            root = self.folder / kind
            for mount in pod["containers"][0]["volumeMounts"]:
                folder = root / mount["mountPath"].lstrip("/")
                folder.mkdir(parents=True)
                volume = volumes[mount["name"]]
                if mount["name"] == "configuration":
                    files = self.large["ConfigMap", volume["configMap"]["name"]]["data"]
                elif mount["name"] == "secrets":
                    files = self.large["Secret", volume["secret"]["secretName"]]["stringData"]
                else:
                    self.assertIn(volume["secret"]["secretName"], ["lockstep-shop", "es-certs", "shop-owner"])
                    files = {"postgresql.password": "a password", "ca.crt": "a certificate"}
                for file, text in files.items():
                    (folder / file).write_text(text.replace('"/run/secrets/', f'"{root}/run/secrets/'))
            done = subprocess.run([PROGRAM, "print-config", "-c", root / "etc/lockstep/lockstep.toml"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('alias = "products"', done.stdout)
            self.assertEqual((root / "run/secrets/lockstep/api.key").read_text(), "a: key\n")
            self.assertEqual((root / "etc/lockstep/products.json").read_text(), LARGE["files"]["products.json"])

    def test_what_the_hook_reads_is_a_hook_itself_and_comes_first(self):
        for kind in ("ConfigMap", "Secret"):
            annotations = self.large[kind, "shop-lockstep-apply"]["metadata"]["annotations"]
            self.assertEqual(annotations["helm.sh/hook"], "pre-install,pre-upgrade")
            self.assertLess(int(annotations["helm.sh/hook-weight"]), 0)
            field = "data" if kind == "ConfigMap" else "stringData"
            self.assertEqual(self.large[kind, "shop-lockstep"][field], self.large[kind, "shop-lockstep-apply"][field])
        self.assertNotIn(("Job", "shop-lockstep-apply"), self.small)

    def test_the_program_knows_the_commands_of_the_containers(self):
        seen = []
        for objects in (self.small, self.large):
            for (kind, _), each in objects.items():
                if kind in ("Deployment", "Job"):
                    spec = self.pod(each)["spec"]
                    for container in spec.get("initContainers", []) + spec["containers"]:
                        seen.append(container["args"][0])
                        self.assertIsNone(fault_of_command(container["args"]), container["args"])
        self.assertEqual(seen, ["run", "run", "apply", "plan"])

    def test_only_the_job_has_the_rights_of_the_owner(self):
        self.assertNotIn("shop-owner", json.dumps(self.large["Deployment", "shop-lockstep"]))
        job = self.pod(self.large["Job", "shop-lockstep-apply"])["spec"]
        for container in job["initContainers"] + job["containers"]:
            self.assertEqual(container["args"][-1], "/run/secrets/owner/owner.url")
        shared = {**LARGE, "apply": {"enabled": True}}
        job = self.pod(self.objects(shared)["Job", "shop-lockstep-apply"])["spec"]
        self.assertEqual(job["initContainers"][0]["args"], ["apply", "--yes"])

    def test_the_probes_reach_the_port_of_the_configuration(self):
        container = self.pod(self.large["Deployment", "shop-lockstep"])["spec"]["containers"][0]
        (port,) = container["ports"]
        self.assertIn(f'listen = "0.0.0.0:{port["containerPort"]}"', TOML)
        for probe in ("livenessProbe", "readinessProbe"):
            self.assertEqual(container[probe]["httpGet"]["port"], port["name"])

    def test_selectors_find_the_pods_of_the_service_and_not_that_of_the_job(self):
        labels = self.pod(self.large["Deployment", "shop-lockstep"])["metadata"]["labels"]
        of_the_job = self.pod(self.large["Job", "shop-lockstep-apply"])["metadata"]["labels"]
        selectors = [self.large["Service", "shop-lockstep"]["spec"]["selector"]]
        for kind in ("Deployment", "PodDisruptionBudget"):
            selectors.append(self.large[kind, "shop-lockstep"]["spec"]["selector"]["matchLabels"])
        for selector in selectors:
            self.assertLessEqual(selector.items(), labels.items())
            self.assertFalse(selector.items() <= of_the_job.items())

    def test_one_replica_has_no_budget_that_would_block_a_drain(self):
        self.assertIn(("PodDisruptionBudget", "shop-lockstep"), self.large)
        self.assertNotIn(("PodDisruptionBudget", "shop-lockstep"), self.small)

    def test_an_update_leaves_no_alert_of_a_missing_process(self):
        self.assertIn("expr: count by (pipeline) (lockstep_led) < max_over_time(", ALERTS.read_text())
        for objects in (self.small, self.large):
            strategy = objects["Deployment", "shop-lockstep"]["spec"]["strategy"]
            self.assertEqual(strategy["rollingUpdate"], {"maxUnavailable": 1, "maxSurge": 0})

    def test_every_container_is_confined(self):
        for kind in ("Deployment", "Job"):
            for (_, _), each in [item for item in self.large.items() if item[0][0] == kind]:
                spec = self.pod(each)["spec"]
                self.assertEqual(spec["automountServiceAccountToken"], False)
                self.assertEqual(spec["securityContext"]["runAsNonRoot"], True)
                self.assertEqual(spec["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
                for container in spec.get("initContainers", []) + spec["containers"]:
                    self.assertEqual(container["securityContext"], {
                        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}})
                    self.assertEqual({mount["readOnly"] for mount in container["volumeMounts"]}, {True})
                    self.assertIn("memory", container["resources"]["limits"])

    def test_a_changed_configuration_replaces_the_pods(self):
        def checksum(values):
            return self.pod(self.objects(values)["Deployment", "shop-lockstep"])["metadata"]["annotations"]["checksum/configuration"]
        self.assertNotEqual(checksum(LARGE), checksum({**LARGE, "files": {"products.json": "{}"}}))
        self.assertEqual(checksum(LARGE), checksum({**LARGE, "secrets": {"api.key": "another"}}))  # the service rereads it

    def test_alerts_and_dashboard_are_those_of_the_repository(self):
        rules = self.large["ConfigMap", "shop-lockstep-alert-rules"]["data"]
        self.assertEqual(rules, {"lockstep-alert-rules.yml": ALERTS.read_text()})
        dashboard = self.large["ConfigMap", "shop-lockstep-dashboard"]
        self.assertEqual(dashboard["data"], {"lockstep.json": (ROOT / "config/grafana-dashboard.json").read_text()})
        self.assertEqual(dashboard["metadata"]["labels"]["grafana_dashboard"], "1")
        (file,) = self.from_yaml(ALERTS.read_text())
        self.assertEqual(self.large["PrometheusRule", "shop-lockstep"]["spec"], file)

    def test_the_operator_finds_and_scrapes_the_service(self):
        service, monitor = self.large["Service", "shop-lockstep"], self.large["ServiceMonitor", "shop-lockstep"]
        self.assertLessEqual(monitor["spec"]["selector"]["matchLabels"].items(), service["metadata"]["labels"].items())
        (endpoint,), (port,) = monitor["spec"]["endpoints"], service["spec"]["ports"]
        self.assertEqual((endpoint["port"], endpoint["path"]), (port["name"], "/metrics"))
        self.assertIn("lockstep", service["metadata"]["labels"][monitor["spec"]["jobLabel"]])
        for kind in OPERATOR:
            self.assertEqual(self.large[kind, "shop-lockstep"]["metadata"]["labels"]["release"], "prometheus")
            self.assertNotIn((kind, "shop-lockstep"), self.small)
        scrape = "prometheus.io/scrape"
        self.assertEqual([scrape in self.pod(each["Deployment", "shop-lockstep"])["metadata"]["annotations"]
                          for each in (self.small, self.large)], [True, False])

    def test_a_wrong_value_is_refused_by_its_name(self):
        for wrong, name in [
            ({"replicas": "two"}, "/replicas"),
            ({"replicas": -1}, "/replicas"),
            ({"replica": 2}, "'replica' not allowed"),
            ({"image": {"name": "x"}}, "'name' not allowed"),
            ({"image": {"tag": 1.0}}, "/image/tag"),
            ({"files": {"a/b": ""}}, "'a/b' not allowed"),
            ({"files": {"a.json": {"settings": {}}}}, "/files/a.json"),
            ({"existingSecrets": ["A_b"]}, "/existingSecrets/0"),
            ({"secrets": {"a": 5}}, "/secrets/a"),
            ({"apply": {"enabled": "yes"}}, "/apply/enabled"),
            ({"resources": {"memory": "1Gi"}}, "'memory' not allowed"),
            ({"nodeSelector": {"a": True}}, "/nodeSelector/a"),
            ({"monitoring": {"serviceMonitor": {}}}, "/monitoring/serviceMonitor"),
        ]:
            self.assertIn(name, self.refusal({**SMALL, **wrong}))

    def test_a_configuration_that_cannot_work_is_refused_with_the_reason(self):
        for wrong, reason in [
            ({}, "set config"),
            ({"config": TOML, "existingConfigMap": "shop"}, "either config and files, or existingConfigMap"),
            ({"config": re.sub(r'url .*', 'url = "sqlite:/var/lib/shop.db"', TOML)}, "SQLite"),
            ({"config": TOML.replace("0.0.0.0:9464", "127.0.0.1:9464")}, "listen"),
            ({"config": TOML.replace("listen", "# listen")}, "listen"),
            ({"config": TOML, "files": {"lockstep.toml": ""}}, "lockstep.toml is the value config"),
            ({"config": TOML, "secrets": {"a": "b"}, "existingSecrets": ["lockstep"]}, "/run/secrets/lockstep"),
        ]:
            self.assertIn(reason, self.refusal(wrong))
        commented = self.render({"config": TOML + '# url = "sqlite:/x"\n'})
        self.assertIn("kind: Deployment", commented)

    def test_the_notes_name_commands_of_the_program_and_objects_of_the_release(self):
        for values in (SMALL, LARGE):
            notes = self.notes(values)
            found = self.small if values is SMALL else self.large
            commands = [line.strip() for line in notes.splitlines() if line.startswith("  ")]
            self.assertGreater(len(commands), 4, notes)
            for line in commands:
                arguments = command_of(line.rpartition(" -- ")[2])
                self.assertTrue(arguments or line.startswith("kubectl -n search "), line)
                if arguments:
                    self.assertIsNone(fault_of_command(arguments), line)
                for kind, name in re.findall(r"\b(deployment|service|job)/(\S+)", line):
                    self.assertIn((kind.capitalize(), name), found)
            self.assertEqual("-apply" in notes, values is LARGE)

    def test_the_command_of_the_documentation_installs_it(self):
        page = (ROOT / "docs/installing.md").read_text()
        (command,) = re.findall(r"^helm install (?:.*\\\n)*.*$", page, re.MULTILINE)
        words = shlex.split(command.replace("\\\n", ""))
        self.assertEqual(words[:4], ["helm", "install", "shop", "lockstep-1.0.0-chart.tgz"])
        folder = self.folder / "documented"
        folder.mkdir()
        (folder / "lockstep.toml").write_text(TOML)
        (folder / "products.json").write_text(LARGE["files"]["products.json"])
        done = subprocess.run([ROOT / "scripts/helm", "template", "shop", CHART, *words[4:]], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {each["kind"]: each for each in self.from_yaml(done.stdout)}
        self.assertEqual(found["ConfigMap"]["data"], {"lockstep.toml": TOML, **LARGE["files"]})
        self.assertIn("/run/secrets/lockstep-shop", json.dumps(found["Deployment"]))
        self.assertIn('password_file = "/run/secrets/lockstep-shop/', page)

    def test_the_packaged_chart_renders_the_same(self):
        done = subprocess.run([ROOT / "scripts/package", "--output", self.folder / "package", "--version", "1.0.0", "chart"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        (chart,) = [pathlib.Path(line) for line in done.stdout.splitlines()]
        self.assertEqual(self.render(LARGE, chart), self.render(LARGE))


if __name__ == "__main__":
    unittest.main()
