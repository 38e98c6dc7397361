# shellcheck shell=bash
# Writes the configuration folder of an engine that is about to start: DIR/config. It is written anew at every start; only
# what security consists of (certificates, keystore, users) is made once and kept.

yaml_string() { printf "'%s'" "${1//\'/\'\'}"; }

# configure_engine DIR HOME PORT HEAP CLUSTERED SECURITY INDICES
configure_engine() {
  local dir=$1 home=$2 port=$3 heap=$4 clustered=$5 security=$6 indices=$7 file
  server_folder "$dir"/{config,config/jvm.options.d,data,logs,tmp,run,snapshots}
  cp "$home/config/log4j2.properties" "$dir/config/"
  # The options of the distribution, without those that write into its own folder or fix the heap
  grep -vE '^-Xm[sx]|gc\.log|gc\*|HeapDump|ErrorFile|^8:' "$home/config/jvm.options" >"$dir/config/jvm.options"
  printf '%s\n' "-Xms$heap" "-Xmx$heap" "-XX:ErrorFile=$dir/logs/hs_err_pid%p.log" >>"$dir/config/jvm.options"
  {
    echo 'cluster.name: lockstep'
    echo "node.name: $engine"
    echo 'network.host: 127.0.0.1'
    echo "http.port: $port"
    echo 'transport.port: 0'
    [[ $clustered == yes ]] || echo 'discovery.type: single-node'
    echo "path.data: $(yaml_string "$dir/data")"
    echo "path.logs: $(yaml_string "$dir/logs")"
    echo "path.repo: $(yaml_string "$dir/snapshots")"
    echo 'node.portsfile: true'
    echo 'cluster.routing.allocation.disk.threshold_enabled: false' # a nearly full disk must not block a test
    if [[ $engine == elasticsearch-8.19 ]]; then security_settings "$dir" "$security"; fi
  } >"$dir/config/$engine_family.yml"
  if [[ $security == yes ]]; then
    make_security "$dir" "$home" "$indices"
  else
    for file in roles.yml users users_roles role_mapping.yml; do
      if [[ -e $home/config/$file ]]; then cp "$home/config/$file" "$dir/config/"; fi
    done
  fi
  if ((EUID == 0)); then chown -R "$kServerUser:" "$dir/config"; fi
}

security_settings() { # DIR SECURITY
  if [[ $2 != yes ]]; then
    echo 'xpack.security.enabled: false'
    return
  fi
  printf '%s\n' 'xpack.security.enabled: true' 'xpack.security.autoconfiguration.enabled: false' \
    'xpack.security.http.ssl.enabled: true' \
    "xpack.security.http.ssl.key: $(yaml_string "$1/config/certificates/http.key")" \
    "xpack.security.http.ssl.certificate: $(yaml_string "$1/config/certificates/http.crt")" \
    "xpack.security.http.ssl.certificate_authorities: [$(yaml_string "$1/config/certificates/ca.crt")]"
}

# make_security DIR HOME INDICES: a certificate authority and a certificate for this machine, the password of `elastic`, and the user
# `replicator`, who may do with INDICES what a replicator needs and nothing else. DIR/security has what a client reads.
make_security() {
  local dir=$1 home=$2 indices=$3 name names=''
  command -v openssl >/dev/null || fail "openssl is missing; scripts/install installs it"
  for name in ${indices//,/ }; do names+="${names:+, }$(yaml_string "$name"), $(yaml_string "$name-*")"; done
  cat >"$dir/config/roles.yml" <<ROLES
# The least that a replicator needs: its indices and their aliases, and to see that the cluster is there.
replicator:
  cluster: [ monitor ]
  indices:
    - names: [ $names ]
      privileges:
        - read
        - write
        - create_index
        - delete_index
        - view_index_metadata
        - maintenance
        - indices:admin/aliases
        - indices:admin/mapping/put
        - indices:admin/settings/update
ROLES
  [[ ! -e $dir/security/complete ]] || return 0
  rm -rf "$dir/security" "$dir/config/certificates" "$dir/config/$engine_family.keystore"
  mkdir -p "$dir/security" "$dir/config/certificates"
  make_certificates "$dir/security" "$dir/config/certificates"
  (
    umask 077
    openssl rand -hex 16 >"$dir/security/elastic.password"
    openssl rand -hex 16 >"$dir/security/replicator.password"
  )
  : >"$dir/config/users"
  : >"$dir/config/users_roles"
  cp "$home/config/role_mapping.yml" "$dir/config/"
  if ((EUID == 0)); then chown -R "$kServerUser:" "$dir/config"; fi
  {
    engine_tool "$dir" "$home" elasticsearch-keystore create --silent
    engine_tool "$dir" "$home" elasticsearch-keystore add -x -f bootstrap.password <"$dir/security/elastic.password"
    engine_tool "$dir" "$home" elasticsearch-users useradd replicator -p "$(<"$dir/security/replicator.password")" -r replicator
  } >"$dir/logs/security.log" 2>&1 || {
    cat "$dir/logs/security.log" >&2
    fail "could not set up security for $engine (see above)"
  }
  : >"$dir/security/complete"
}

# make_certificates AUTHORITY_FOLDER SERVER_FOLDER
make_certificates() {
  local log=$1/openssl.log
  {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj '/CN=Lockstep test authority' \
      -addext 'keyUsage=critical,keyCertSign,cRLSign' -keyout "$1/ca.key" -out "$1/ca.crt" &&
      openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj '/CN=localhost' \
        -keyout "$2/http.key" -out "$1/http.csr" &&
      openssl x509 -req -in "$1/http.csr" -CA "$1/ca.crt" -CAkey "$1/ca.key" -CAcreateserial -days 3650 \
        -extfile <(echo 'subjectAltName=DNS:localhost,IP:127.0.0.1') -out "$2/http.crt" &&
      cp "$1/ca.crt" "$2/ca.crt"
  } >"$log" 2>&1 || {
    cat "$log" >&2
    fail "openssl could not make the certificates (see above)"
  }
}

# engine_tool DIR HOME TOOL ARGUMENTS…: runs one of the engine's own tools on the configuration in DIR.
engine_tool() {
  local dir=$1 home=$2 tool=$3
  shift 3
  (
    cd /
    as_server_user "${engine_prefix}_PATH_CONF=$dir/config" "${engine_prefix}_JAVA_HOME=$java" "$home/bin/$tool" "$@"
  )
}
