#!/bin/sh
# Asks a model through its host, with neither a key nor a network, and repeats what it said.
read -r invocation
printf '@say from inside\n@usage 7 2\n' | /ctx/model/debug/script >/tmp/frames
text=$(sed -n 's/.*"type":"message".*"text":"\([^"]*\)".*/\1/p' /tmp/frames)
printf '{"type":"message","role":"assistant","content":[{"type":"text","text":"heard: %s"}]}\n' "$text"
