// A writer's words in SQL that every relational database understands.
#pragma once

#include <string>

#include "tests/contract/source_world.h"

namespace lockstep {

class SqlWriter : public SourceWriter {
 public:
  void begin() override { execute("begin"); }
  void savepoint() override { execute("savepoint here"); }
  void rollback_to_savepoint() override { execute("rollback to savepoint here"); }
  void commit() override { execute("commit"); }
  void rollback() override { execute("rollback"); }

  void insert_thing(int id, int n) override {
    execute("insert into thing values (" + text(id) + ", " + text(n) + ")");
  }
  void insert_things(int first, int last) override {
    execute("insert into thing with recursive i(id) as (select " + text(first) +
            " union all select id + 1 from i where id < " + text(last) + ") select id, 0 from i");
  }
  void set_n(int id, int n) override {
    execute("update thing set n = " + text(n) + " where id = " + text(id));
  }
  void set_every_n(int n) override { execute("update thing set n = " + text(n)); }
  void renumber_thing(int id, int new_id) override {
    execute("update thing set id = " + text(new_id) + " where id = " + text(id));
  }
  void delete_thing(int id) override { execute("delete from thing where id = " + text(id)); }
  void delete_things() override { execute("delete from thing"); }
  void truncate_things() override { delete_things(); }

  void insert_part(int id, int thing) override {
    execute("insert into part values (" + text(id) + ", " + text(thing) + ")");
  }
  void move_part(int id, int thing) override {
    execute("update part set thing_id = " + text(thing) + " where id = " + text(id));
  }
  void delete_part(int id) override { execute("delete from part where id = " + text(id)); }

  void insert_town(int id, const std::string& name) override {
    execute("insert into town values (" + text(id) + ", '" + name + "')");
  }
  void rename_town(int id, const std::string& name) override {
    execute("update town set name = '" + name + "' where id = " + text(id));
  }
  void insert_parcel(int id, int town) override {
    execute("insert into parcel values (" + text(id) + ", " + text(town) + ")");
  }
  void move_parcel(int id, int town) override {
    execute("update parcel set town_id = " + text(town) + " where id = " + text(id));
  }
  void delete_parcel(int id) override { execute("delete from parcel where id = " + text(id)); }

 protected:
  virtual void execute(const std::string& sql) = 0;

 private:
  static std::string text(int number) { return std::to_string(number); }
};

}  // namespace lockstep
