#!/bin/sh
# Never reads what it is told, and closes the pipe at once.
exec <&-
printf '{"type":"message","role":"assistant","content":[{"type":"text","text":"not listening"}]}\n'
