# shellcheck shell=bash
# What the servers that these scripts start have in common: an ordinary user to run as, a folder of their own,
# a free port, and a record of the process, by which exactly that process is ended.

readonly kServerUser=lockstep-dev # runs the servers when root calls; made when it isn't there

# as_server_user COMMAND…: replaces this (sub)shell by COMMAND, run by an ordinary user, in a clean environment
# (assignments may come before the command, as for env).
as_server_user() {
  local environment=(env -i "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" "LANG=C.UTF-8" "HOME=/")
  if ((EUID == 0)); then
    exec setpriv --reuid="$kServerUser" --regid="$kServerUser" --init-groups "${environment[@]}" "$@"
  fi
  exec "${environment[@]}" "$@"
}

ensure_server_user() {
  ((EUID == 0)) || return 0
  id -u "$kServerUser" >/dev/null 2>&1 && return 0
  useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin "$kServerUser" 2>/dev/null ||
    id -u "$kServerUser" >/dev/null 2>&1 || # somebody else made it at the same moment
    fail "cannot make the system user $kServerUser that servers run as; make it with: useradd --system --user-group $kServerUser"
}

# server_can_read PATH: whether the user that servers run as gets there.
server_can_read() { (cd / && as_server_user test -r "$1" -a -x "$1"); }

# claim_folder DIR KIND: makes DIR, takes it for a server of that kind (only when it's empty or has been taken for the same kind
# before), and locks it until the script ends. KIND also names the server in messages.
claim_folder() {
  local dir=$1 kind=$2
  [[ $dir != *[[:space:]]* ]] || fail "the folder '$dir' has white space in its name, which the servers' start scripts do not accept; choose another"
  ensure_server_user
  mkdir -p "$dir" || fail "cannot make the folder $dir"
  if [[ -e $dir/server ]]; then
    [[ $(<"$dir/server") == "$kind" ]] || fail "$dir belongs to $(<"$dir/server"); give $kind another --data folder"
  elif [[ -n $(ls -A "$dir") ]]; then
    fail "$dir is not empty and holds no server of this script; give --data a new or empty folder"
  fi
  exec {folder_lock}>"$dir/lock"
  flock -w 300 "$folder_lock" || fail "another start or stop in $dir has not ended for 5 minutes"
  printf '%s\n' "$kind" >"$dir/server"
  if ((EUID == 0)); then
    chown "$kServerUser:" "$dir"
    chmod u+rwx,go+rx "$dir"
    server_can_read "$dir" ||
      fail "servers run as the user $kServerUser, who can't get into $dir; choose a folder that all users may enter (below /var/lib or /tmp)"
  fi
}

# server_folder DIR...: makes folders that belong to the server's user.
server_folder() {
  mkdir -p "$@"
  if ((EUID == 0)); then chown "$kServerUser:" "$@"; fi
}

# existing_folder DIR: locks the folder of a server for stopping; fails when no server has been started there.
existing_folder() {
  [[ -e $1/server ]] || fail "no server has been started in $1"
  exec {folder_lock}>"$1/lock"
  flock -w 300 "$folder_lock" || fail "another start or stop in $1 has not ended for 5 minutes"
}

# port_is_free PORT: nobody answers there. The server's own bind decides; who loses that race tries the next port.
port_is_free() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# free_port: prints a free port from below the range that the kernel gives to outgoing connections, so that a
# server that is stopped and started again finds its port free.
free_port() {
  local port
  for _ in {1..100}; do
    port=$((20000 + SRANDOM % 12000))
    if port_is_free "$port"; then
      printf '%s\n' "$port"
      return
    fi
  done
  fail "no free port between 20000 and 32000"
}

# choose_port DIR WANTED ATTEMPT: WANTED when given, else the port of the last run when it's free, else any free one.
choose_port() {
  if [[ -n $2 ]]; then
    port_is_free "$2" || fail "port $2 is taken; choose another, or leave --port out"
    printf '%s\n' "$2"
  elif (($3 == 1)) && [[ -s $1/port ]] && port_is_free "$(<"$1/port")"; then
    cat "$1/port"
  else
    free_port
  fi
}

valid_port() { [[ $1 =~ ^[0-9]{1,5}$ ]] && (($1 > 0 && $1 < 65536)); }

# launch OUTPUT COMMAND…: starts COMMAND as the servers' user in a session of its own, with no descriptor of ours, so that it
# outlives the script and no pipe waits for it. Sets $launched to its process id.
launch() {
  local output=$1
  shift
  (
    local descriptor
    cd /
    exec </dev/null >"$output" 2>&1
    for descriptor in "/proc/$BASHPID/fd/"*; do
      descriptor=${descriptor##*/}
      if ((descriptor > 2)); then exec {descriptor}>&-; fi
    done
    as_server_user setsid env "$@"
  ) &
  launched=$!
}

# process_start PID: prints when the process began, in clock ticks since boot: with the id it names a process for good.
# Fails when the process has ended. A zombie has, unless other threads of it are still at their end.
process_start() {
  local stat='' fields threads
  { IFS= read -r -d '' stat <"/proc/$1/stat" || true; } 2>/dev/null
  [[ -n $stat ]] || return 1
  stat=${stat##*) } # the name may hold anything, but ends at the last parenthesis
  read -ra fields <<<"$stat"
  if [[ ${fields[0]} == Z ]]; then
    threads=("/proc/$1/task/"*)
    ((${#threads[@]} > 1)) || return 1
  fi
  printf '%s\n' "${fields[19]}"
}

# record_process DIR PID: fails when the process has ended already.
record_process() {
  local start
  start=$(process_start "$2") && printf '%s %s\n' "$2" "$start" >"$1/process"
}

# running_process DIR: prints the id of the process recorded in DIR, when that very process lives.
running_process() {
  local pid start
  [[ -s $1/process ]] || return 1
  read -r pid start <"$1/process"
  [[ $(process_start "$pid") == "$start" ]] && printf '%s\n' "$pid"
}

# wait_until DEADLINE_SECONDS COMMAND…: tries COMMAND ten times a second until it succeeds; fails after the deadline. Says now and then
# that it waits.
wait_until() {
  local begun=$SECONDS deadline=$((SECONDS + $1)) said=$SECONDS
  shift
  until "$@"; do
    ((SECONDS < deadline)) || return 1
    if ((SECONDS >= said + 8)); then
      said=$SECONDS
      say "waiting for $((SECONDS - begun)) s, for at most $((deadline - begun)) s"
    fi
    sleep 0.1
  done
}

pid_is_free() { ! kill -s 0 "$1" 2>/dev/null; }
process_has_ended() { ! running_process "$1" >/dev/null; }

# stop_process DIR SIGNAL SECONDS: ends the process recorded in DIR, and waits for its end; kills it after SECONDS.
stop_process() {
  local dir=$1 signal=$2 seconds=$3 pid
  if pid=$(running_process "$dir"); then
    kill -s "$signal" "$pid" 2>/dev/null || true
    kill -s CONT "$pid" 2>/dev/null || true # a stopped process gets the signal only when it goes on
    if ! wait_until "$seconds" process_has_ended "$dir"; then
      say "process $pid has not ended within $seconds s; killing it"
      kill -s KILL "$pid" 2>/dev/null || true
      wait_until 30 process_has_ended "$dir" || fail "process $pid doesn't end, even killed"
      wait_until 10 pid_is_free "$pid" || true # until then PostgreSQL takes it for another server
    fi
  fi
  rm -f "$dir/process"
}
