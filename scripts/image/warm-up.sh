#!/bin/sh
# Starts Millrace once, so that its compiled code is kept in the image. Run as the image's user, in the place that it has there.
set -eu
work=$(mktemp -d)
MILLRACE_DATA_DIR=$work/data MILLRACE_PORT=18080 MILLRACE_QUICKSTART=off /millrace/bin/millrace start >"$work/printed" 2>&1 &
server=$!
until /millrace/bin/node /millrace/bin/is-ready.mjs 18080; do
  kill -0 "$server" 2>/dev/null || { cat "$work/printed" >&2; exit 1; }
  sleep 0.2
done
kill "$server"
wait "$server"
rm -rf "$work"
