#!/bin/sh
# An agent in the shell. It lists the workspace, reads the first file, and says how many lines it has.
#
# A run is made of steps, and each step is this program from its beginning: one JSON object comes in on
# standard input, JSON lines go out, the program exits. A step that ends with a tool_call asks the host
# for that call; the next step is told what came of it, as "observation". A step that ends with a message
# ends the run. Nothing is remembered in between, so CTX_STEP says where we are.
#
# There is no JSON tool in a bare sandbox, so the few places that are needed are found with sed. That is
# exact, not lucky: a quote inside a JSON text is always written \", so "observation":{ with bare quotes
# can only be the member itself, and the host writes its members in one order, "observation" last.
set -eu

invocation=$(cat)

tab=$(printf '\t')
aside=$(printf '\001')

# A text on standard input as a JSON text, quotes included. Control characters that JSON wants escaped
# and nobody misses are dropped; the last newline goes with them.
json_text() {
  printf '"'
  tr -d '\000-\010\013-\037' |
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e "s/$tab/\\\\t/g" -e '$!s/$/\\n/' | tr -d '\n'
  printf '"'
}

# The way back: what stands between the quotes of a JSON text, as text. An escaped backslash is put aside
# first, as a character that JSON never holds bare, so that \\n does not become a newline.
plain_text() {
  sed -e "s/\\\\\\\\/$aside/g" -e 's/\\"/"/g' -e "s/\\\\t/$tab/g" -e 's/\\r//g' -e 's/\\n/\
/g' -e "s/$aside/\\\\/g"
}

# Members of the observation. What is found is still JSON, so it can go into JSON again as it is.
observed() {
  printf '%s\n' "$invocation" | sed -n 's/.*"observation":{\(.*\)}}$/{\1}/p' | sed -n "$1"
}

say() {
  printf '{"type":"message","role":"assistant","content":[{"type":"text","text":%s}]}\n' \
    "$(printf '%s\n' "$1" | json_text)"
}

# The id is ours, and must be new in the run.
call() {
  printf '{"type":"tool_call","id":"step-%s","name":"%s","args":%s}\n' "$CTX_STEP" "$1" "$2"
}

if [ "$CTX_STEP" = 0 ]; then
  call fs.list '{"path":"/workspace"}'
  exit
fi

status=$(observed 's/.*,"status":"\([a-z]*\)","content":".*/\1/p')
content=$(observed 's/.*,"content":"\(.*\)","truncated":[a-z]*}$/\1/p')

# A call that the host refused, or that failed, is an observation like any other.
if [ "$status" != ok ]; then
  say "I could not look: $(printf '%s' "$content" | plain_text)"
  exit
fi

case $CTX_STEP in
1)
  # fs.list answers with a line of JSON for each entry, as a text: one level of quotes is taken off here.
  # The path in it is of the listed folder, and still JSON: it goes into the next call as it is.
  path=$(printf '%s\n' "$content" | plain_text | sed -n '/"type":"file"/{
    s/^{"path":"\([^"\\]*\(\\.[^"\\]*\)*\)".*/\1/p
    q
  }')
  if [ -z "$path" ]; then
    say 'There is no file here.'
    exit
  fi
  # A message before a call is recorded too; the run goes on, because the call comes last.
  say "I read $(printf '%s\n' "$path" | plain_text)."
  call fs.read "{\"path\":\"/workspace/$path\"}"
  ;;
*)
  # Of a long result only the beginning comes, and the observation says so.
  more=$(observed 's/.*","truncated":true}$/at least /p')
  lines=$(printf '%s' "$content" | plain_text | grep -c '' || true)
  say "It has $more$lines lines."
  ;;
esac
