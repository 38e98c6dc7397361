#!/bin/bash
# Run by scripts/installation as root in a machine of its own, with systemd: the lines of the documentation in /walk/lines, each in a
# shell of its own; then what a service lives through. It is a bare Debian: nothing of lockstep's is there at the beginning or at the end.
set -euo pipefail
pg_bin=$(echo /usr/lib/postgresql/*/bin)
cd /walk
export PATH=/usr/sbin:/usr/bin:/sbin:/bin PGHOST=/var/run/postgresql PGPORT=54999 DEBIAN_FRONTEND=noninteractive
owner='' # set once the documentation has made it

step() { printf '# %s\n' "$*"; }
fail() {
  printf 'FAILED: %s\n' "$*"
  journalctl -q --no-pager -u 'lockstep*' | tail -30
  exit 1
}
# until_true SECONDS COMMAND…: whether it comes to succeed in that time.
until_true() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < deadline)) || return 1
    read -rt 0.1 <> <(:) || true
  done
}
property() { systemctl show --value --property "$2" "$1"; }
is() { [[ $(property "$1" "$2") == "$3" ]]; }
has_status() { [[ $(property "$1" StatusText) == "$2"* ]]; }
in_journal() { journalctl -q --no-pager -o cat "${@:2}" | grep -qF -- "$1"; }
as_postgres() { runuser -u postgres -- "$@"; }
start_postgresql() {
  systemd-run --quiet --collect --unit walk-postgresql --uid postgres --service-type notify \
    "$pg_bin/postgres" -D /walk/data -p 54999 -k /var/run/postgresql -c listen_addresses=127.0.0.1
}

ours() { find / -xdev -path /walk -prune -o -path /proc -prune -o -path /old -prune -o -iname '*lockstep*' -print | sort; }
ours >/walk/before
! command -v cc c++ gcc g++ clang cmake ninja || fail 'this machine has a compiler'

install -d -o postgres -g postgres /var/run/postgresql /walk/data
as_postgres "$pg_bin/initdb" -D /walk/data -A peer -E UTF8 --locale=C.UTF-8 --no-sync >/walk/initdb.log
printf '%s\n' 'local all all peer' 'host all all 127.0.0.1/32 scram-sha-256' >/walk/data/pg_hba.conf
start_postgresql
as_postgres psql -q -d postgres -c "create role shop_owner login password 'owner'" -c 'create database shop owner shop_owner'
as_postgres psql -q -d shop -c 'alter schema public owner to shop_owner'
psql -q "$(cat owner.url)" -c "create table posts (id integer primary key, title text)" \
  -c "insert into posts select i, 'post ' || i from generate_series(1, 100) i" \
  -c "create view documents as select id as _id, title from posts"

while IFS= read -r line; do
  step "$line"
  bash -o pipefail -c "$line" </dev/null || fail "$line"
done <lines
following() { [[ $(runuser -u lockstep -- lockstep status --json) == *'"state":"following"'* ]]; }
until_true 30 following || fail 'it does not follow'
owner=$(cat /etc/lockstep/owner.url)
! runuser -u lockstep -- cat /etc/lockstep/owner.url 2>/dev/null || fail "the service's user can read the owner's url"
! runuser -u nobody -- cat /etc/lockstep/elasticsearch.password 2>/dev/null || fail 'all users can read the secret'

step 'the journal can be filtered by pipeline and epoch'
until_true 10 in_journal 'leading pipeline' -u lockstep LOCKSTEP_PIPELINE=lockstep LOCKSTEP_EPOCH=1 || fail 'its lines have no such fields'

step 'it is hardened, with the addresses of its servers as in operations.md'
mkdir -p /etc/systemd/system/lockstep.service.d
printf '[Service]\nIPAddressDeny=any\nIPAddressAllow=localhost\n' >/etc/systemd/system/lockstep.service.d/addresses.conf
systemctl daemon-reload
systemctl restart lockstep
exposure=$(systemd-analyze security --no-pager lockstep.service | sed -n 's/.*Overall exposure level for lockstep.service: \([0-9.]*\).*/\1/p')
awk -v exposure="$exposure" 'BEGIN {exit !(exposure != "" && exposure <= 1.0)}' || fail "systemd-analyze security: ${exposure:-no answer}"

step 'stop takes less than five seconds'
begun=$SECONDS
systemctl stop lockstep
((SECONDS - begun <= 5)) || fail "it took $((SECONDS - begun)) s"
is lockstep Result success || fail 'it did not end well'

step 'with a missing grant the start fails, names it, and is not repeated'
psql -q "$owner" -c 'revoke usage on schema lockstep from lockstep'
! systemctl start lockstep 2>/dev/null || fail 'systemctl start reports no error'
is lockstep ExecMainStatus 2 || fail 'the exit code is not 2'
is lockstep NRestarts 0 || fail 'it was started again'
until_true 10 in_journal 'permission denied' -u lockstep LOCKSTEP_PIPELINE=lockstep || fail 'the journal does not name it'
psql -q "$owner" -c 'grant usage on schema lockstep to lockstep'

step 'while the database is away it is not ready, and reports the reason; when the database is there, it is'
systemctl stop walk-postgresql
systemctl start --no-block lockstep
until_true 20 has_status lockstep 'waiting for source' || fail "$(property lockstep StatusText)"
is lockstep ActiveState activating || fail "it is $(property lockstep ActiveState)"
start_postgresql
until_true 20 is lockstep ActiveState active || fail 'it does not become ready'

step 'a reload with a wrong configuration fails and changes nothing'
cp -p /etc/lockstep/lockstep.toml /walk/kept.toml
echo 'nonsense = 1' | cat - /walk/kept.toml >/etc/lockstep/lockstep.toml
! systemctl reload lockstep 2>/dev/null || fail 'systemctl reload reports no error'
until_true 10 in_journal 'nonsense' -u lockstep || fail 'the journal does not name the fault'
step 'a reload takes over what has changed'
{ cat /walk/kept.toml; printf '[log]\nlevel = "debug"\n[replication]\nchunk_documents = 100\n'; } >/etc/lockstep/lockstep.toml
before=$(property lockstep MainPID)
systemctl reload lockstep
until_true 10 in_journal 'reloaded' -u lockstep || fail 'it has not reloaded'
until_true 10 in_journal 'leading pipeline lockstep under epoch' -u lockstep LOCKSTEP_EPOCH=4 || fail 'it does not lead again'
is lockstep MainPID "$before" || fail 'it is another process'
cp /walk/kept.toml /etc/lockstep/lockstep.toml

step 'another instance stands by, and takes over'
install -o root -g lockstep -m 0640 /walk/kept.toml /etc/lockstep/shop.toml
systemctl start lockstep@shop
has_status lockstep@shop 'standing by' || until_true 5 has_status lockstep@shop 'standing by' || fail "$(property lockstep@shop StatusText)"
systemctl kill -s KILL lockstep
until_true 10 has_status lockstep@shop 'following' || fail 'the other instance does not become leader'
until_true 10 has_status lockstep 'standing by' || fail 'the killed one is not started again'
is lockstep NRestarts 1 || fail 'it was not systemd that started it'
systemctl stop lockstep
step 'a process that hangs is replaced'
mkdir -p /etc/systemd/system/lockstep@.service.d
printf '[Service]\nWatchdogSec=3\n' >/etc/systemd/system/lockstep@.service.d/walk.conf
systemctl daemon-reload
systemctl restart lockstep@shop
systemctl kill -s STOP lockstep@shop
until_true 20 is lockstep@shop NRestarts 1 || fail 'the watchdog did nothing'
until_true 20 has_status lockstep@shop 'following' || fail 'it does not follow again'

step 'the quick start takes the installed program'
for options in '' --sqlite; do
  # shellcheck disable=SC2086
  env -u PGHOST -u PGPORT bash clone/scripts/quickstart $options >/walk/quickstart.log 2>&1 || { cat /walk/quickstart.log; fail "quickstart $options"; }
  [[ $(</walk/quickstart.log) == *'step 6 of 6, after '*' a search finds all 10000 orders '*'20,000 documents compared, equal'* ]] || { cat /walk/quickstart.log; fail "quickstart $options shows no progress or no result"; }
  bash clone/scripts/quickstart stop 2>/dev/null
done
rm -rf /var/lib/lockstep /walk/clone

step 'an upgrade starts again what ran, and nothing else'
before=$(property lockstep@shop MainPID)
apt-get -q install -y ./next/lockstep_*.deb >/walk/upgrade.log 2>&1 || { cat /walk/upgrade.log; fail 'the upgrade failed'; }
until_true 20 has_status lockstep@shop 'following' || fail 'it does not follow after the upgrade'
! is lockstep@shop MainPID "$before" || fail 'the old program runs on'
is lockstep ActiveState inactive || fail 'the upgrade has started what was stopped'

step 'what it leaves when it is removed and purged'
cp /usr/bin/lockstep /walk/lockstep
apt-get -q remove -y lockstep >/walk/remove.log 2>&1 || { cat /walk/remove.log; fail 'the removal failed'; }
[[ ! -e /usr/bin/lockstep && -e /etc/lockstep/lockstep.toml ]] || fail 'the program is there, or the configuration is not'
is lockstep@shop ActiveState inactive || fail 'the service runs on'
/walk/lockstep remove --as-file /etc/lockstep/owner.url --yes --indices
apt-get -q purge -y lockstep >/walk/purge.log 2>&1 || { cat /walk/purge.log; fail 'the purge failed'; }
[[ ! -e /etc/lockstep/lockstep.toml.sample && -e /etc/lockstep/shop.toml ]] || fail 'the sample is there, or a file of the operator is not'
! systemctl cat lockstep.service >/dev/null 2>&1 || fail 'the unit is still known'
# What the walk itself has made, and nothing else.
rm -r /etc/lockstep /etc/systemd/system/lockstep.service.d /etc/systemd/system/lockstep@.service.d
apt-get -q autoremove --purge -y >/walk/autoremove.log 2>&1 || { cat /walk/autoremove.log; fail 'the libraries cannot be removed'; }
ours | diff /walk/before - || fail 'this is left of the package'
echo 'every line has worked'
