#!/bin/sh
# Runs candor-mcp, the executable in the same folder, in place of this shell: nothing remains between it and its caller.
folder=${0%/*}
[ -x "$folder/candor-mcp" ] || folder=$(dirname -- "$(readlink -f -- "$0")")
exec "$folder/candor-mcp" "$@"
