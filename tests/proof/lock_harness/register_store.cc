#include "tests/proof/lock_harness/register_store.h"

#include <sstream>

namespace lockstep::harness {

RegisterStore::RegisterStore(const std::string& url) : connection_(std::make_unique<pqxx::connection>(url)) {}

void RegisterStore::create(int registers) {
  pqxx::work work(*connection_);
  work.exec(R"sql(
    create table register (
      id integer primary key, operation text not null default '', fence bigint not null default 0,
      revision bigint not null default 0);
    create table write (number bigserial primary key, register integer not null, operation text not null);
    create table announced (operation text primary key, registers text not null);
  )sql");
  work.exec_params("insert into register (id) select generate_series(0, $1::integer - 1)", registers);
  work.commit();
}

RegisterStore::Stored RegisterStore::read(Register at) {
  pqxx::nontransaction work(*connection_);
  const pqxx::row row =
      work.exec_params1("select operation, fence, revision from register where id = $1", at);
  return {row[0].c_str(), row[1].as<FencingToken>(), row[2].as<std::int64_t>()};
}

bool RegisterStore::write_as_read(Register at, const std::string& operation, FencingToken token,
                                  std::int64_t revision) {
  pqxx::nontransaction work(*connection_);
  return work.exec_params(
                 "with written as (update register set operation = $2, fence = $3, revision = revision + 1 "
                 "where id = $1 and revision = $4 returning id) "
                 "insert into write (register, operation) select id, $2 from written",
                 at, operation, token, revision)
             .affected_rows() == 1;
}

void RegisterStore::write_anyhow(Register at, const std::string& operation) {
  pqxx::nontransaction work(*connection_);
  work.exec_params(
      "with written as (update register set operation = $2, revision = revision + 1 where id = $1 returning "
      "id) "
      "insert into write (register, operation) select id, $2 from written",
      at, operation);
}

void RegisterStore::announce(const std::string& operation, const std::vector<Register>& registers) {
  pqxx::nontransaction work(*connection_);
  work.exec_params("insert into announced values ($1, $2)", operation, text_of(registers));
}

std::vector<RegisterStore::Announced> RegisterStore::announced() {
  pqxx::nontransaction work(*connection_);
  std::vector<Announced> all;
  for (const pqxx::row& row : work.exec("select operation, registers from announced"))
    all.push_back({row[0].c_str(), registers_of(row[1].c_str())});
  return all;
}

std::vector<Write> RegisterStore::writes() {
  pqxx::nontransaction work(*connection_);
  std::vector<Write> all;
  for (const pqxx::row& row : work.exec("select number, register, operation from write order by number"))
    all.push_back({row[0].as<std::int64_t>(), row[1].as<Register>(), row[2].c_str()});
  return all;
}

std::string text_of(const std::vector<Register>& registers) {
  std::string text;
  for (const Register at : registers) text += (text.empty() ? "" : " ") + std::to_string(at);
  return text;
}

std::vector<Register> registers_of(const std::string& text) {
  std::istringstream words(text);
  std::vector<Register> registers;
  for (Register at = 0; words >> at;) registers.push_back(at);
  return registers;
}

}  // namespace lockstep::harness
