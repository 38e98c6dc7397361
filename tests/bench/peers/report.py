"""What was measured: rows, each with the values of every tool, one a round."""


def quantile(values, share):
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


class Report:
    def __init__(self):
        self._rows = {}

    def add(self, name, unit, column, value):
        self._rows.setdefault(name, (unit, {}))[1].setdefault(column, []).append(value)
        print(f"  {name:<60} {value:12,.2f} {unit}", flush=True)

    def add_latencies(self, column, variant, milliseconds):
        name = "commit to GET at 20/s" + (f", {variant}" if variant else "")
        for label, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
            self.add(f"{name}: {label}", "ms", column, quantile(milliseconds, share))

    def values(self, name, column):
        return self._rows[name][1][column]

    def rows(self):
        """Those that say the same before their colon stay together."""
        groups = list(dict.fromkeys(name.partition(":")[0] for name in self._rows))
        ordered = sorted(self._rows.items(), key=lambda row: groups.index(row[0].partition(":")[0]))
        return [{"name": name, "unit": unit, "values": values} for name, (unit, values) in ordered]
