"""The alert rules fire when they should, ask for metrics that exist, and lead to sections that exist; the dashboard shows every metric."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ROOT / "config/alert-rules.yml"
METRIC = re.compile(r"\b(?:lockstep|process)_[a-z_]+\b")


def metrics() -> set[str]:
    """Those that service/metrics.cc exports."""
    return set(re.findall(r'"((?:lockstep|process)_[a-z_]+)"', (ROOT / "replicator/service/metrics.cc").read_text()))


def expressions() -> list[str]:
    """What the dashboard asks for."""
    dashboard = json.loads((ROOT / "config/grafana-dashboard.json").read_text())
    return [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]


def promtool(*arguments: str) -> None:
    done = subprocess.run([ROOT / "scripts/promtool", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)


class AlertRules(unittest.TestCase):
    def test_each_alert_fires_on_its_own_trouble_and_on_nothing_else(self):
        promtool("test", "rules", str(ROOT / "tests/rules/alert_rules.yml"))
        alerts = set(re.findall(r"- alert: (\w+)", RULES.read_text()))
        tried = set(re.findall(r'alertname="(\w+)"', (ROOT / "tests/rules/alert_rules.yml").read_text()))
        self.assertEqual(alerts, tried)

    def test_they_ask_for_metrics_that_exist(self):
        asked = {name for name in METRIC.findall(RULES.read_text()) if name.startswith("lockstep_")}
        self.assertEqual(asked - metrics(), set())

    def test_each_leads_to_a_section_of_the_documentation(self):
        sections = set(re.findall(r"^#+ (.*)$", (ROOT / "docs/operations.md").read_text(), re.MULTILINE))
        # In words: an alert that comes by mail has no page that a link could be relative to.
        led_to = re.findall(r"""runbook: 'docs/operations\.md, section "([^"]+)"'$""", RULES.read_text(), re.MULTILINE)
        self.assertEqual(set(led_to) - sections, set())
        self.assertEqual(len(led_to), RULES.read_text().count("- alert:"))


class Dashboard(unittest.TestCase):
    def test_it_shows_every_metric(self):
        shown = {name.removesuffix("_bucket") for name in METRIC.findall(" ".join(expressions()))}
        self.assertEqual(metrics() - shown, set())

    def test_what_it_asks_for_is_understood_by_prometheus(self):
        rules = [
            {"record": f"panel:{number}", "expr": expression.replace("$__rate_interval", "5m")}
            for number, expression in enumerate(expressions())
        ]
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)  # YAML knows JSON
            file.flush()
            promtool("check", "rules", file.name)

    def test_its_panels_have_ids_of_their_own(self):
        panels = json.loads((ROOT / "config/grafana-dashboard.json").read_text())["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))


if __name__ == "__main__":
    unittest.main()
