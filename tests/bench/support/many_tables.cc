#include "tests/bench/support/many_tables.h"

#include <string>

namespace lockstep::benchmarks {

void add_many_tables(support::PipelineUnderTest& pipeline, std::int64_t tables, std::int64_t indices) {
  std::string sql = "create schema many;";
  for (std::int64_t i = 0; i < indices; ++i) {
    const std::string parent = "many.parent_" + std::to_string(i);
    std::string columns;
    std::string tracks = support::track(parent);
    sql += "create table " + parent + " (id bigint primary key, name text); insert into " + parent +
           " select i, 'name' from generate_series(1, 20) i;";
    for (std::int64_t j = 1; j < tables / indices; ++j) {
      const std::string child = "many.child_" + std::to_string(i) + "_" + std::to_string(j);
      sql += "create table " + child + " (id bigint primary key, parent_id bigint, name text);";
      columns += ", (select json_agg(c.name) from " + child + " c where c.parent_id = p.id) as child_" +
                 std::to_string(j);
      tracks += support::track(child, {{"row", "parent_id"}});
    }
    const std::string view = "many.documents_" + std::to_string(i);
    sql += "create view " + view + " as select p.id as _id, p.name" + columns + " from " + parent + " p;";
    pipeline.add_index("many-" + std::to_string(i), view, tracks);
  }
  pipeline.database().execute(sql);
}

}  // namespace lockstep::benchmarks
