// A database as the contract suite needs it, in words that every database has: tables with rows, writers with
// transactions, a pipeline that was applied, and what may happen to them. An implementation of Source brings
// one of these worlds, and one of the interfaces below it where the implementation has more to offer.
//
//   thing (id integer primary key, n integer)         part (id integer primary key, thing_id integer)
//   town (id integer primary key, name text)          parcel (id integer primary key, town_id integer)
//
// The index `docs` has a document {"n": …, "parts": […]} for each thing with n >= 0. Its tracks: thing by its
// key, part by thing_id. So the values of both are ids. The index `parcels` is routed by the name of the
// town; its documents are {"town": …}. Its tracks: parcel by its key, town by its key, which leads to all
// parcels of the town. So one value may lead to many documents.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/applied_watch.h"
#include "replicator/source/pipeline_status.h"
#include "replicator/source/source.h"
#include "replicator/source/source_definition.h"

namespace lockstep {

/// An application's connection. What it writes outside of a transaction commits at once.
class SourceWriter {
 public:
  virtual ~SourceWriter() = default;

  virtual void begin() = 0;
  virtual void savepoint() = 0;
  /// Back to the last savepoint(), which stays.
  virtual void rollback_to_savepoint() = 0;
  virtual void commit() = 0;
  virtual void rollback() = 0;

  virtual void insert_thing(int id, int n) = 0;
  /// All from `first` to `last`, in one statement.
  virtual void insert_things(int first, int last) = 0;
  virtual void set_n(int id, int n) = 0;
  virtual void set_every_n(int n) = 0;
  virtual void renumber_thing(int id, int new_id) = 0;
  virtual void delete_thing(int id) = 0;
  virtual void delete_things() = 0;
  /// As the database empties a table fastest, which may tell no triggers which rows there were.
  virtual void truncate_things() = 0;

  virtual void insert_part(int id, int thing) = 0;
  virtual void move_part(int id, int thing) = 0;
  virtual void delete_part(int id) = 0;

  virtual void insert_town(int id, const std::string& name) = 0;
  virtual void rename_town(int id, const std::string& name) = 0;
  virtual void insert_parcel(int id, int town) = 0;
  virtual void move_parcel(int id, int town) = 0;
  virtual void delete_parcel(int id) = 0;

  /// The number of the open transaction. None: this database does not number them.
  virtual std::optional<TransactionId> transaction() { return std::nullopt; }
};

/// What every implementation has, the fake included.
class SourceWorld {
 public:
  virtual ~SourceWorld() = default;

  virtual std::unique_ptr<Source> open() = 0;
  virtual std::unique_ptr<SourceWriter> writer() = 0;

  /// A writer that commits in the laziest way that the database has, so that a crash may take it back.
  virtual std::unique_ptr<SourceWriter> lazy_writer() = 0;
  /// Whether a crash can no longer take back what the last lazy writer has committed.
  virtual bool is_durable() = 0;

  virtual std::unique_ptr<AppliedWatch> watch() = 0;
  /// The fake's tells of reindexes, and little else.
  virtual std::unique_ptr<StatusReader> status() = 0;

  /// Lets no query of the view `docs` succeed until mend_view().
  virtual void break_view() = 0;
  virtual void mend_view() = 0;

  /// Makes everything in the outbox so old that prune() may remove it, once it is passed.
  virtual void age_outbox() = 0;
  /// Lets the outbox reach its limit: from now on triggers leave changes out.
  virtual void fill_outbox() = 0;

  /// Whether a position can be saved while a writer's transaction is open that has written.
  virtual bool saves_beside_open_writers() const { return true; }
  /// Whether a large transaction is told from the small ones beside it.
  virtual bool tells_transactions_apart() const { return true; }
  /// Whether truncate_things() tells triggers which rows there were.
  virtual bool truncating_names_rows() const { return false; }

  /// How long something may take that the source does by itself.
  virtual std::chrono::milliseconds patience() const { return std::chrono::seconds(30); }
};

/// A database with triggers, which `apply` has made and which somebody can break, with all of `status`.
/// The fake has none of this: what a test of the pipeline changes in it is what the triggers would have
/// written.
class DefinedWorld : public SourceWorld {
 public:
  enum class Configuration {
    kApplied,          ///< as it was applied
    kWithoutParcels,   ///< the same without the index `parcels`
    kWithUnknownView,  ///< the same with an index more, whose view does not exist
    /// `docs` by another view, `docs_2`: {"doubled": …} for each thing, its _id "t" and the id, routed by the
    /// name of the town whose id is n. Its tracks: thing by its key through the view, town by its key.
    kWithOtherView,
    kWithOtherViewWithoutParcels,  ///< the same without the index `parcels`
  };
  virtual std::unique_ptr<SourceDefinition> definition(Configuration configuration) = 0;
  virtual std::unique_ptr<StatusWriter> status_writer() = 0;

  /// Who may do nothing yet; where the database knows no users, an empty name, and open_as() is open().
  virtual std::string create_user() = 0;
  virtual void execute_as_owner(const std::vector<std::string>& statements) = 0;
  virtual std::unique_ptr<Source> open_as(const std::string& user) = 0;

  /// Drops a trigger of the table `thing`.
  virtual void drop_trigger() = 0;
  /// Gives the documents of `docs` one more field.
  virtual void replace_view() = 0;
  /// Writes a job of `docs` into lockstep's own tables, as no lockstep would.
  virtual void plant_job(const std::string& kind, const std::string& position) = 0;
  /// Writes a row of this number into lockstep's table of migrations, as no lockstep would.
  virtual void plant_migration(int number) = 0;
  /// Puts null into a column of one of lockstep's own tables, in every row.
  virtual void plant_null(const std::string& table, const std::string& column) = 0;
  /// Puts a text into a column of one of lockstep's own tables, in every row.
  virtual void plant_text(const std::string& table, const std::string& column, const std::string& text) = 0;
  /// Writes a row into the outbox, as no trigger would.
  virtual void plant_outbox_rows(CaptureId capture, int rows) = 0;
  /// Makes every dead letter so much older.
  virtual void age_dead_letters(std::chrono::seconds by) = 0;
  /// Writes a job, a dead letter and a set-aside row of an index that nobody has.
  virtual void plant_rows_of_index(IndexId index) = 0;
};

/// The parameter of the suites.
struct MakeWorld {
  std::function<std::unique_ptr<SourceWorld>()> make;

  std::unique_ptr<SourceWorld> operator()() const { return make(); }

  /// GoogleTest makes it part of a test's name.
  friend void PrintTo(const MakeWorld& /*world*/, std::ostream* out) { *out << "a world"; }
};

/// Of an index of its configuration; empty: it has none.
inline TrackConfig track(const std::string& table, const std::string& column, const std::string& row) {
  TrackConfig track;
  track.table = table;
  track.column = column;
  track.row = row;
  return track;
}

}  // namespace lockstep
