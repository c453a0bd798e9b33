#!/bin/sh
# Defaults for talking to an agent: finds ctx and execs ctx agent, nothing else.
#   agent.sh AGENT                chat        agent.sh --watch AGENT    watch its terminal
#   agent.sh AGENT INPUT...       send        agent.sh --attach AGENT   join its terminal
set -eu

usage() {
  echo "usage: agent.sh AGENT [INPUT...] | --watch AGENT | --attach AGENT" >&2
  exit 2
}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
if [ -f "$here/ctx" ] && [ -x "$here/ctx" ]; then ctx=$here/ctx; else ctx=ctx; fi

case ${1-} in
  '') usage ;;
  --watch | --attach)
    [ $# -eq 2 ] || usage
    exec "$ctx" agent "${1#--}" "$2" --session default
    ;;
  -*) usage ;;
esac

agent=$1
shift
if [ $# -eq 0 ]; then exec "$ctx" agent chat "$agent" --session default; fi
exec "$ctx" agent send "$agent" --session default -- "$@"
