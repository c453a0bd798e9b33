#!/bin/sh
# Has a file written, and tells how that went.
read -r invocation
say() { printf '{"type":"message","role":"assistant","content":[{"type":"text","text":"%s"}]}\n' "$1"; }
case $invocation in
  *'"observation":null'*)
    printf '{"type":"tool_call","id":"w1","name":"fs.write","args":{"path":"made","content":"x"}}\n' ;;
  *'"status":"ok"'*) say written ;;
  *'not today'*) say 'refused: not today' ;;
  *) say refused ;;
esac
