#include "tests/proof/chaos/tree_writer.h"

#include <thread>

namespace lockstep::chaos {

using support::execute;

void TreeWriter::connect() {
  connection_ = database_.connect();
  execute(*connection_, "set deadlock_timeout = '100ms'; set lock_timeout = '1s'; " + session_);
}

void TreeWriter::run_while(const std::function<bool()>& go_on) {
  while (go_on()) {
    try {
      if (connection_ == nullptr) connect();
      transact();
      ++committed_;
      std::this_thread::sleep_for(pause_);
    } catch (const pqxx::failure&) {
      ++failed_;
      if (rolled_back()) continue;
      connection_.reset();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
}

bool TreeWriter::rolled_back() {
  // A connection that libpqxx makes again by itself would lack what connect() does.
  if (connection_ == nullptr || !connection_->is_open()) return false;
  try {
    execute(*connection_, "rollback");
    return true;
  } catch (const pqxx::failure&) {
    return false;
  }
}

// Of so many statements that it steps aside, each of them small.
void TreeWriter::transact_large() {
  execute(*connection_, "begin");
  for (int i = pick(1200, 2000); i > 0; --i)
    execute(*connection_, "select chaos.change(" + node("file") + ")");
  execute(*connection_, chance(80) ? "commit" : "rollback");
}

void TreeWriter::transact() {
  if (pick(1, 300) == 1) return transact_large();
  execute(*connection_, "begin");
  for (int i = chance(60) ? 1 : pick(2, 4); i > 0; --i) {
    if (chance(15)) {
      execute(*connection_, "savepoint a");
      execute(*connection_, change());
      execute(*connection_, "rollback to a");
    }
    execute(*connection_, change());
  }
  execute(*connection_, chance(92) ? "commit" : "rollback");
}

std::string TreeWriter::node(const char* kind) {
  return std::string("chaos.any_node('") + kind + "', " +
         std::to_string(std::uniform_real_distribution<double>(0, 1)(random_)) + ")";
}

// A directory in the root.
std::string TreeWriter::top() {
  return "(select n.id from fs.nodes n where n.name like 'top" + std::to_string(pick(1, 8)) + ".%')";
}

std::string TreeWriter::change() {
  const std::string below_root =
      " and d.parent_id <> (select r.id from fs.nodes r where r.parent_id is null)";
  switch (pick(1, 20)) {
    case 1:
    case 2:
    case 3:
    case 4:
      return "select chaos.rename(" + node("file") + ")";
    case 5:
    case 6:
      return "select chaos.rename(" + node("directory") + ")";
    case 7:  // a top directory brings thousands of documents along: enough of them, not only them
      return "select chaos.rename(" + (chance(20) ? top() : node("directory")) + ")";
    case 8:
    case 9:
      return "select chaos.rename(" + node("file") + ", " + node("directory") + ")";
    case 10:
      return "select chaos.rename(d.id, " + (chance(50) ? top() : node("directory")) +
             ") from fs.nodes d where d.id = " + node("directory") + below_root;
    case 11:
    case 12:
    case 13:
      return "select chaos.change(" + node("file") + ")";
    case 14:
    case 15:
      return "select chaos.add_file(" + node("directory") + ")";
    case 16:
      return "select chaos.add_directory(" + (chance(50) ? top() : node("directory")) + ")";
    case 17:
      return "select fs.remove(fs.path(" + node("file") + "))";
    case 18:  // with all below, but not the largest
      return "delete from fs.nodes d where d.id = " + node("directory") + below_root +
             " and 100 > (select count(*) from fs.nodes c where c.parent_id = d.id)";
    case 19:  // as many as keep the size of the tree about the same
      return "select chaos.add_files(" + (chance(50) ? top() : node("directory")) +
             ", 20) where 4000 > (select count(*) from fs.nodes)";
    default:  // all files of a directory at once, by a statement of their own
      return chance(70) ? "update fs.nodes f set contents = nextval('chaos.revision') || ' all' where f.id "
                          "in (select "
                          "c.id from fs.nodes c where c.parent_id = " +
                              node("directory") + " and c.kind = 'file' for no key update)"
                        : "delete from fs.nodes f where f.parent_id = " + top() +
                              " and f.kind = 'file' and f.id % " + std::to_string(pick(5, 20)) + " = 0";
  }
}

}  // namespace lockstep::chaos
