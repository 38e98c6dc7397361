# shellcheck shell=bash
# Which tests are run against another PostgreSQL than Debian's: the source under its contract, what reads the catalog, defines triggers,
# or asks how the server behaves, locks, and what follows changes for long.

# tests_of_postgresql: prints a regular expression for their names.
tests_of_postgresql() {
  local contract='contract\.Postgres/|contract\.Postgresql/|contract\.PostgresLocks'
  local suites='CompositeKeyTest|GoldenPlanTest|HostileSchemaTest|ImageOfKeysTest|InheritanceTest|Init|InvokerTest|ManyTables|MigrationsTest'
  suites+='|MusicbrainzInit|Names/HostileNamesTest|NorthwindInit|PartitionsTest|PreflightTest|RightsTest|RolesTest|SearchPathTest'
  suites+='|HotelInit|LeagueInit|PartitionsOfViews|ReplacedPolicies|ReprintedDefinitions|SettingsOfTheDatabase|SettingsTest'
  suites+='|TableChangesTest|TableWithoutKeyTest|TracksTest|TriggersTest|Types/ImageTest|Changes/ChangedPartsTest|View[A-Za-z]*Test'
  suites+='|Apply|Examples/ExampleTest|LeadTest|LockStatements|Logins|ManagedDatabase|OpenTransactions|OutboxReading|PartitionedViews'
  suites+='|Partitions|ProgramRoles|SchemaChanges|Views|Wait'
  printf '^(%s|integration\\.(%s)\\.|integration\\.Of/ReplacedDefinitions\\.OneThatIsPutBackWhile)\n' "$contract" "$suites"
}

# tests_not_on_postgresql VERSION: prints a regular expression for those that a version cannot have: 13 no functions with an SQL body,
# 13 and 14 neither MERGE nor security_invoker; the package of 17 has no ICU, that of 18 neither ICU nor XML, that of 16 no pg_dump. On 13
# and 14, reading behind 60,000 consumed rows looks at 1,400 blocks of the outbox in place of 200 at most, which
# OutboxReading.ConsumedRows… reports.
tests_not_on_postgresql() {
  local sql_body='(RolesTest|TableChangesTest|Changes/ChangedPartsTest)\.|ViewLinksTest\.FollowsSubqueries'
  sql_body+='|ViewReadsTest\.(WholeRowPassedToAFunction|FunctionWithAnSqlBody|WholeRowInAFunctionWithAnSqlBody|TableThatOnlyAFunctionReads)'
  sql_body+='|ReplacedDefinitions\..*/FunctionWithSqlBody'
  local since_15='TriggersTest\.MergeIsCaptured|InvokerTest\.|OutboxReading\.ConsumedRows'
  case $1 in
    13) printf '%s|%s\n' "$since_15" "$sql_body" ;;
    14) printf '%s\n' "$since_15" ;;
    16) echo 'ManagedDatabase\.ThatHidesItsWal|Partitions\.(ARestoredDump|ApplyAfterARestoredDump)|TableChangesTest\.DatabaseRestoredFromADump' ;;
    17) echo 'TracksTest\.IdWithALooseCollation' ;;
    18) echo 'TracksTest\.IdWithALooseCollation|ImageTest\..*"xml"' ;;
    *) echo '^$' ;;
  esac
}
