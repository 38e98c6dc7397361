# shellcheck shell=bash
# Writes the configuration folder of an engine that is about to start: DIR/config. It is written anew at every start; only
# what security consists of (certificates, users) is made once and kept.

yaml_string() { printf "'%s'" "${1//\'/\'\'}"; }

# configure_engine DIR HOME PORT HEAP SHORT_LIVED CLUSTERED SECURITY INDICES
configure_engine() {
  local dir=$1 home=$2 port=$3 heap=$4 short_lived=$5 clustered=$6 security=$7 indices=$8 file
  server_folder "$dir"/{config,config/jvm.options.d,data,logs,tmp,run,snapshots}
  cp "$home/config/log4j2.properties" "$dir/config/"
  # The options of the distribution, without those that write into its own folder or fix the heap
  grep -vE '^-Xm[sx]|gc\.log|gc\*|HeapDump|ErrorFile|^8:' "$home/config/jvm.options" >"$dir/config/jvm.options"
  printf '%s\n' "-Xms$heap" "-Xmx$heap" "-XX:ErrorFile=$dir/logs/hs_err_pid%p.log" >>"$dir/config/jvm.options"
  [[ $short_lived == no ]] || echo '-XX:TieredStopAtLevel=1' >>"$dir/config/jvm.options"
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
    if [[ $security == yes ]]; then
      "security_settings_of_$engine_family" "$dir"
    elif [[ $engine_security == yes ]]; then
      echo 'xpack.security.enabled: false'
    fi
  } >"$dir/config/$engine_family.yml"
  if [[ $security == yes ]]; then
    make_security "$dir" "$indices"
  else
    for file in roles.yml users users_roles role_mapping.yml; do
      if [[ -e $home/config/$file ]]; then cp "$home/config/$file" "$dir/config/"; fi
    done
  fi
  if ((EUID == 0)); then chown -R "$kServerUser:" "$dir/config"; fi
}
