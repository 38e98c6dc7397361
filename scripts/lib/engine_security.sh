# shellcheck shell=bash
# TLS, users and roles of an engine: a certificate authority, the user `admin`, who may do everything, and the user `replicator`,
# who has the privileges that docs/configuration.md lists and no others.

security_settings_of_elasticsearch() { # DIR
  printf '%s\n' 'xpack.security.enabled: true' 'xpack.security.autoconfiguration.enabled: false' \
    'resource.reload.interval.high: 1s' \
    'xpack.security.http.ssl.enabled: true' \
    "xpack.security.http.ssl.key: $(yaml_string "$1/config/certificates/http.key")" \
    "xpack.security.http.ssl.certificate: $(yaml_string "$1/config/certificates/http.crt")" \
    "xpack.security.http.ssl.certificate_authorities: [$(yaml_string "$1/config/certificates/ca.crt")]"
}

# Its plugin takes paths below the configuration folder only, and insists on TLS between nodes.
security_settings_of_opensearch() {
  local layer
  for layer in transport http; do
    printf "plugins.security.ssl.$layer.%s\n" 'pemcert_filepath: certificates/http.crt' \
      'pemkey_filepath: certificates/http.key' 'pemtrustedcas_filepath: certificates/ca.crt'
  done
  printf '%s\n' 'plugins.security.ssl.http.enabled: true' 'plugins.security.ssl.transport.enforce_hostname_verification: false' \
    'plugins.security.allow_default_init_securityindex: true' 'plugins.security.nodes_dn: ["CN=localhost"]' \
    'plugins.security.restapi.roles_enabled: ["all_access"]'
}

# make_security DIR INDICES: makes it once. DIR/security has what a client reads.
make_security() {
  local dir=$1 indices=$2 user
  command -v openssl >/dev/null || fail "openssl is missing; scripts/install installs it"
  [[ ! -e $dir/security/complete ]] || return 0
  rm -rf "$dir/security" "$dir/config/certificates"
  mkdir -p "$dir/security" "$dir/config/certificates"
  make_certificates "$dir/security" "$dir/config/certificates"
  for user in admin replicator; do
    (umask 077 && openssl rand -hex 16 >"$dir/security/$user.password")
  done
  "make_users_of_$engine_family" "$dir" "$indices"
  : >"$dir/security/complete"
}

# bcrypt_of FILE: the hash of its first line.
bcrypt_of() {
  python3 -W ignore -c 'import crypt, sys; print(crypt.crypt(sys.stdin.readline().rstrip("\n"), crypt.mksalt(crypt.METHOD_BLOWFISH, rounds=1024)))' <"$1"
}

# quoted_names INDICES: the aliases and their indices as a list in YAML.
quoted_names() {
  local name names=''
  for name in ${1//,/ }; do names+="${names:+, }$(yaml_string "$name"), $(yaml_string "$name-*")"; done
  printf '%s' "$names"
}

make_users_of_elasticsearch() { # DIR INDICES
  local config=$1/config
  cat >"$config/roles.yml" <<ROLES
replicator:
  cluster: [ monitor ]
  indices:
    - names: [ $(quoted_names "$2") ]
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
  printf '%s:%s\n' admin "$(bcrypt_of "$1/security/admin.password")" \
    replicator "$(bcrypt_of "$1/security/replicator.password")" >"$config/users"
  printf '%s\n' superuser:admin replicator:replicator >"$config/users_roles"
  cp "$home/config/role_mapping.yml" "$config/"
}

make_users_of_opensearch() { # DIR INDICES
  local config=$1/config/opensearch-security
  mkdir -p "$config"
  cp "$home"/plugins/opensearch-security/config/*.yml "$config/"
  rm -f "$config/opensearch.yml"
  cat >"$config/internal_users.yml" <<USERS
_meta: { type: internalusers, config_version: 2 }
admin: { hash: "$(bcrypt_of "$1/security/admin.password")", backend_roles: [ admin ] }
replicator: { hash: "$(bcrypt_of "$1/security/replicator.password")" }
USERS
  cat >"$config/roles_mapping.yml" <<MAPPING
_meta: { type: rolesmapping, config_version: 2 }
all_access: { backend_roles: [ admin ] }
replicator: { users: [ replicator ] }
MAPPING
  cat >"$config/roles.yml" <<ROLES
_meta: { type: roles, config_version: 2 }
replicator:
  cluster_permissions:
    - cluster:monitor/main
    - indices:data/write/bulk
    - indices:data/read/mget
    - indices:data/read/scroll
    - indices:data/read/scroll/clear
  index_permissions:
    - index_patterns: [ $(quoted_names "$2") ]
      allowed_actions:
        - indices:admin/get
        - indices:admin/create
        - indices:admin/delete
        - indices:admin/aliases
        - indices:admin/mapping/put
        - indices:admin/settings/update
        - indices:admin/refresh*
        - indices:data/read/search
        - indices:data/write/bulk*
        - indices:data/write/index
        - indices:data/write/delete
ROLES
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
