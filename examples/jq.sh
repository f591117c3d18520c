#!/usr/bin/env bash
# Questions to reports: k3preflight check --host facts/ --format ndjson | jq.sh QUESTION
set -euo pipefail
case ${1:-} in
  fitting) # hosts that fit, and what fits there
    jq -r 'select(.verdict.status == "pass") | [.host.name, (.verdict.fits | join(" "))] | @tsv' ;;
  failing) # host, scenario, check, bytes missing
    jq -r '(.host.name // .document) as $host | .assessments[] | .scenario as $scenario
      | .findings[] | select(.status == "fail")
      | [$host, $scenario, .check, .budget.gap // "-"] | @tsv' ;;
  stoppers) # how many hosts each check stops, the most first
    jq -rs '[.[].assessments[].findings[] | select(.status == "fail") | .check]
      | group_by(.) | map([length, .[0]]) | sort_by(-.[0])[] | @tsv' ;;
  broken) # documents that were no host, and why
    jq -r 'select(.host == null) | .problem' ;;
  largest) # the five hosts with most usable memory
    jq -rs 'map(select(.host.memory.usable)) | sort_by(-.host.memory.usable)[:5][]
      | [.host.name, .host.memory.usable] | @tsv' ;;
  *) echo "usage: jq.sh fitting|failing|stoppers|broken|largest <reports.ndjson" >&2 && exit 2 ;;
esac
