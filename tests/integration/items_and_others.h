// Two indices that have nothing to do with each other: what happens to `items` must not touch `others`.
#pragma once

#include "tests/support/pipeline_under_test.h"

namespace lockstep::support {

/// Fails for a row whose n is 0.
inline constexpr const char* kItemsView =
    "create view items_view as select id as _id, name, 100 / n as share from items";

/// Makes the tables `items` and `others`, with 50 rows each and their views, and adds their indices.
inline void add_items_and_others(PipelineUnderTest& pipeline) {
  pipeline.database().execute(
      "create table items (id integer primary key, name text, n integer not null default 1); "
      "create table others (id integer primary key, name text); "
      "insert into items select i, 'item ' || i from generate_series(1, 50) i; "
      "insert into others select i, 'other ' || i from generate_series(1, 50) i; "
      "create view others_view as select id as _id, name from others");
  pipeline.database().execute(kItemsView);
  pipeline.add_index("items", "public.items_view", track("public.items"));
  pipeline.add_index("others", "public.others_view", track("public.others"));
}

}  // namespace lockstep::support
