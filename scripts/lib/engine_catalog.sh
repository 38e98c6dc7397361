# shellcheck shell=bash
# The search engines that tests, benchmarks and the quick start run: what each consists of and what it needs.
# The core of each comes as one zip file; 7.10 and 2.19 are completed with modules (scripting, analysis, joins,
# by-query requests) that are published as single jars.

readonly kEngines=(elasticsearch-7.10 elasticsearch-8.19 elasticsearch-9.5 opensearch-2.19 opensearch-3.6)
readonly kRecipe=1 # raise it when anything below changes what a fetched engine consists of

# describe_engine NAME: sets engine_* for the others to read; fails on an unknown name.
describe_engine() {
  engine=$1
  engine_daemon_options=()
  engine_modules=()
  engine_security='' # yes: it has users and roles; coordinates: of the plugin that brings them
  engine_sha256=''   # of the zip file, where the registry has no checksum of it
  case $engine in
    elasticsearch-7.10)
      engine_version=7.10.2
      engine_java_lowest=11 engine_java_highest=17
      engine_modules=(lang-painless analysis-common parent-join reindex)
      ;;
    elasticsearch-8.19)
      engine_version=8.19.21
      engine_java_lowest=17 engine_java_highest=25
      engine_daemon_options=(-d) # or a second Java would stay beside the server
      engine_security=yes
      ;;
    elasticsearch-9.5)
      engine_version=9.5.0
      engine_java_lowest=21 engine_java_highest=25
      engine_daemon_options=(-d)
      engine_security=yes
      engine_sha256=db0e275fd790f723eca7bcde96069fd6fed304ad23afdb70c8c09553dd9e8b1b
      ;;
    opensearch-2.19)
      engine_version=2.19.4 # the newest with a published security plugin
      engine_java_lowest=11 engine_java_highest=21
      engine_security=org.opensearch.plugin:opensearch-security:2.19.4.0
      engine_modules=(lang-painless analysis-common parent-join reindex)
      ;;
    opensearch-3.6)
      engine_version=3.6.0
      engine_java_lowest=21 engine_java_highest=99
      ;;
    *) return 1 ;;
  esac
  engine_family=${engine%-*}
  if [[ $engine_family == elasticsearch ]]; then
    engine_zip=org.elasticsearch.distribution.integ-test-zip:elasticsearch:$engine_version
    engine_prefix=ES
  else
    engine_zip=org.opensearch.distribution.integ-test-zip:opensearch:$engine_version
    engine_prefix=OPENSEARCH
  fi
}

# module_jars MODULE: prints the coordinates of the module's jars, one a line.
module_jars() {
  case $engine:$1 in
    elasticsearch-7.10:lang-painless)
      printf '%s\n' org.codelibs.elasticsearch.module:{lang-painless,scripting-painless-spi}:7.10.2 \
        org.antlr:antlr4-runtime:4.5.3 org.ow2.asm:{asm,asm-analysis,asm-commons,asm-tree,asm-util}:7.2
      ;;
    elasticsearch-7.10:reindex)
      printf '%s\n' org.codelibs.elasticsearch.module:reindex:7.10.2 \
        org.elasticsearch.client:elasticsearch-rest-client:7.10.2 org.elasticsearch:elasticsearch-ssl-config:7.10.2 \
        org.apache.httpcomponents:{httpasyncclient:4.1.4,httpclient:4.5.10,httpcore:4.4.12,httpcore-nio:4.4.12} \
        commons-codec:commons-codec:1.11 commons-logging:commons-logging:1.1.3
      ;;
    elasticsearch-7.10:*) printf '%s\n' "org.codelibs.elasticsearch.module:$1:7.10.2" ;;
    opensearch-2.19:lang-painless)
      printf '%s\n' org.opensearch.plugin:{lang-painless,opensearch-scripting-painless-spi}:2.19.4 \
        org.antlr:antlr4-runtime:4.13.1 org.ow2.asm:{asm,asm-analysis,asm-commons,asm-tree,asm-util}:9.7
      ;;
    opensearch-2.19:reindex)
      printf '%s\n' org.opensearch.plugin:reindex-client:2.19.4 \
        org.opensearch.client:opensearch-rest-client:2.19.4 org.opensearch:opensearch-ssl-config:2.19.4 \
        org.apache.httpcomponents:{httpasyncclient:4.1.5,httpclient:4.5.14,httpcore:4.4.16,httpcore-nio:4.4.16} \
        commons-codec:commons-codec:1.18.0 commons-logging:commons-logging:1.2
      ;;
    opensearch-2.19:parent-join) printf '%s\n' org.opensearch.plugin:parent-join-client:2.19.4 ;;
    opensearch-2.19:*) printf '%s\n' "org.opensearch.plugin:$1:2.19.4" ;;
  esac
}

# module_descriptor MODULE: prints the module's plugin-descriptor.properties.
module_descriptor() {
  local class extends=''
  case $1 in
    lang-painless) class=painless.PainlessPlugin ;;
    analysis-common) class=analysis.common.CommonAnalysisPlugin extends=lang-painless ;;
    parent-join) class=join.ParentJoinPlugin ;;
    reindex) class=index.reindex.ReindexPlugin ;;
  esac
  printf '%s\n' "description=$1" "version=$engine_version" "name=$1" "classname=org.$engine_family.$class" \
    "$engine_family.version=$engine_version" "extended.plugins=$extends" has.native.controller=false
  if [[ $engine_family == elasticsearch ]]; then
    echo java.version=1.8
  else
    printf '%s\n' java.version=11 custom.foldername=
  fi
}

# module_policy MODULE: prints the module's plugin-security.policy; nothing when it needs none.
module_policy() {
  case $1 in
    lang-painless)
      cat <<'POLICY'
grant {
  permission java.lang.RuntimePermission "createClassLoader";
  permission java.lang.RuntimePermission "getClassLoader";
};
POLICY
      ;;
    reindex)
      cat <<POLICY
grant {
  permission java.net.SocketPermission "*", "connect";
};
grant codeBase "\${codebase.$engine_family-rest-client}" {
  permission java.net.NetPermission "getProxySelector";
};
grant codeBase "\${codebase.httpasyncclient}" {
  permission java.net.NetPermission "getProxySelector";
};
POLICY
      ;;
  esac
}

# require_engine NAME: wrong usage when there is no such engine.
require_engine() {
  [[ " ${kEngines[*]} " == *" $1 "* ]] || wrong_usage "unknown engine '$1'; there are: ${kEngines[*]}"
}
