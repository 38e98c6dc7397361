"""What every search view is held to: found by its indexes, and known to the column in what it reads."""
import json

from database import DatabaseTest, literal

# What the tailer's sessions are set to.
TAILER = "set jit = off; set enable_seqscan = off; set plan_cache_mode = force_custom_plan"

# What Lockstep takes a view to depend on (its rule's entries in pg_depend), and whether it hides anything from that.
READS = """
select d.refobjid::regclass::text as "table", a.attname as column
from pg_rewrite r
join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
where r.ev_class = {view}::regclass and d.refobjid <> r.ev_class
order by 1, 2"""
HIDES = """
select r.ev_action::text like '%:varattno 0 %' as whole_row,
       exists (select from pg_depend d where d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
               and d.refclassid = 'pg_proc'::regclass) as function
from pg_rewrite r where r.ev_class = {view}::regclass"""


def plan_nodes(plan):
    """Every node of a plan of "explain (format json)"."""
    yield plan
    for child in plan.get("Plans", ()):
        yield from plan_nodes(child)


class ViewTest(DatabaseTest):
    def assert_reads_exactly(self, view, columns):
        self.assertEqual([f"{r['table']}.{r['column']}" for r in self.sql.rows(READS.format(view=literal(view)))], columns)
        self.assertEqual(self.sql.rows(HIDES.format(view=literal(view))), [{"whole_row": False, "function": False}])

    def assert_looks_up(self, query, indexes, rows):
        """The query reads by these indexes and no other way, and no step of it has more rows in hand than `rows`."""
        self.sql.run(TAILER)
        plan = json.loads(self.sql.run(f"explain (analyze, format json) {query}"))[0]["Plan"]
        nodes = list(plan_nodes(plan))
        self.assertNotIn("Seq Scan", {node["Node Type"] for node in nodes}, plan)
        self.assertEqual({node["Index Name"] for node in nodes if "Index Name" in node}, set(indexes), plan)
        self.assertLessEqual(max(node["Actual Rows"] for node in nodes), rows, plan)
