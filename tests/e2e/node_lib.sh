# SPDX-License-Identifier: ISC
# For the scripts that record Node.js programs: see lib.sh. Sourced, not run.
# shellcheck shell=bash
node=${NODE:-$(command -v node || :)}
[ -e "$BUILD_ROOT/adapters/node/weft.node" ] || skip 'Node.js programs are not recorded by this build'
[ -n "$node" ] && [ -x "$node" ] || missing 'node'
[ "$("$node" -p 'process.versions.node.split(".")[0] >= 18')" = true ] || skip 'node is older than 18'
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FORK NODE_OPTIONS
cd "$tmp"
