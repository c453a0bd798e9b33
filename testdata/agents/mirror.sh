#!/bin/sh
# Prints the bytes that it was given, and the environment that it was started with, as base64.
encoded=$(base64 -w0)
env=$(base64 -w0 </proc/$$/environ)
if [ "$CTX_STEP" = 0 ]; then
  printf '{"type":"tool_call","id":"call-1","name":"example.echo","args":{}}\n'
  printf '%s %s\n' "$encoded" "$env" >/home/agent/step-0
else
  read -r first </home/agent/step-0
  printf '{"type":"message","role":"assistant","content":[{"type":"text","text":"%s %s %s"}]}\n' \
    "$first" "$encoded" "$env"
fi
