#include "tests/support/view_reader.h"

#include <stdexcept>

#include "tests/support/canonical_json.h"

namespace lockstep::support {

ExpectedDocuments read_view(pqxx::connection& connection, const std::string& view) {
  pqxx::work work(connection);
  const pqxx::result columns = work.exec_params(
      "select attname from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped "
      "order by attnum",
      view);
  std::string fields;
  std::string routing = "''";
  for (const auto& row : columns) {
    const auto column = row[0].as<std::string>();
    if (column == "_routing") routing = "coalesce(v._routing::text, '')";
    if (column.starts_with('_')) continue;
    fields += (fields.empty() ? "v." : ", v.") + work.quote_name(column);
  }
  const pqxx::result rows =
      work.exec("select v._id::text, " + routing + ", (select row_to_json(d)::text from (select " + fields +
                ") d) from " + view + " v");
  ExpectedDocuments documents;
  for (const auto& row : rows) {
    const DocumentAddress address{row[0].as<std::string>(), row[1].as<std::string>()};
    if (!documents.emplace(address, canonical_json(row[2].as<std::string>())).second) {
      throw std::runtime_error("two rows of " + view + " have the _id " + address.id);
    }
  }
  return documents;
}

}  // namespace lockstep::support
