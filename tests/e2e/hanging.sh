#!/bin/bash
# SPDX-License-Identifier: ISC
# Processes that keep whoever looks at them waiting (tools/hanging.c): it ends, and says why. And one in which a device
# stands under the name of what it has mapped: nobody opens that.
. "$(dirname "$0")/lib.sh"
[ -x "${HANGING:-}" ] || skip 'HANGING is not set'
[ "$(id -u)" -eq 0 ] || skip 'only root can keep a file system here'
cd "$tmp"

# looks NAME HOW COMMAND…: a process that hangs so, and a command that looks at it, whose id is PID there. It waits for long,
# so all of them do so at the same time; ended tells what came of it. A process's output is a pipe of its own: what an
# earlier one has left behind may still hold that one's.
declare -A looking
looks() {
    local name=$1 how=$2
    shift 2
    (
        status=0
        exec 3< <(exec "$HANGING" "$how" 2>"$name.why")
        keeper=$!
        read -r pid <&3 || exit 77
        exec 3<&-
        echo "$pid" >"$name.pid"
        timeout 300 "${@/#PID/$pid}" >"$name.out" 2>"$name.err" </dev/null || status=$?
        kill -KILL "$keeper"
        exit "$status"
    ) &
    looking[$name]=$!
}

# ended NAME STATUS: sets $pid, and what was said stands in $tmp/out and $tmp/err
ended() {
    local name=$1 wanted=$2 status=0
    checks=$((checks + 1))
    wait "${looking[$name]}" || status=$?
    [ -s "$name.pid" ] || skip "no file system can be kept here: $(cat "$name.why")"
    pid=$(cat "$name.pid")
    cp "$name.out" "$tmp/out"
    cp "$name.err" "$tmp/err"
    if [ "$status" -ne "$wanted" ]; then
        fail "$name: status $status instead of $wanted"
        head -n 5 "$tmp/err"
    fi
}

looks ctl object "$WEFT" ctl PID
looks save object "$WEFT" save -o copy.weft PID
looks saved-trace trace "$WEFT" save -o trace.weft PID
looks explained-trace trace "$WEFT" explain PID
looks object object "$NOW/graph" PID
looks code code "$NOW/graph" PID
sampled=no
if "$WEFT" sample -o probe.samples true 2>probe.err; then
    sampled=yes
    looks stack stack "$WEFT" sample --off-cpu --duration 300ms -o a.samples -p PID
else
    echo "not tried with samples: $(cat probe.err)"
fi

ended ctl 1
says "$tmp/err" "process $pid: does not let itself be looked at: its memory has not answered"
ended save 0 # it is looked at from outside
run 0 "$WEFT" info copy.weft
tr -s ' \n' ' ' <"$tmp/out" >"$tmp/text"
says "$tmp/text" "not seen the functions of process $pid are not known"
for name in saved-trace explained-trace; do
    ended $name 1
    says "$tmp/err" "process $pid does not let itself be looked at: its files have not answered"
done
for name in object code; do
    ended $name 0
    says "$tmp/out" "^thing 0 thread $pid 'hanging'; waits in pause"
    says "$tmp/out" "^remark the functions of process $pid are not known"
done
if [ $sampled = yes ]; then
    ended stack 0
    run 0 "$WEFT" profile --off-cpu a.samples
fi

# ---- Devices under the names of what is mapped ----
mknod device c 1 3 2>/dev/null || skip 'devices cannot be made here'
# Root without these rights opens what is mapped by its name.
less=(setpriv --bounding-set=-sys_admin,-checkpoint_restore)
"${less[@]}" true 2>/dev/null || less=()
cat >mapped.py <<'END'
import contextlib, ctypes, mmap, os, subprocess, sys
IN_OPEN, NONBLOCK, commands = 0x20, 0o4000, sys.argv[1:]
with contextlib.suppress(FileNotFoundError):
    os.remove("own")
with open("own", "w+b") as f:
    f.truncate(8192)
    mapped = mmap.mmap(f.fileno(), 8192)
os.link("device", "other")
os.replace("other", "own")
libc = ctypes.CDLL(None)
seen = libc.inotify_init1(NONBLOCK)
assert libc.inotify_add_watch(seen, b"own", IN_OPEN) > 0
result = subprocess.run([*commands, str(os.getpid())], capture_output=True)
try:
    opened = len(os.read(seen, 4096)) // 16
except BlockingIOError:
    opened = 0
print(result.returncode, opened, flush=True)
os.close(os.open("own", os.O_RDONLY))
print(len(os.read(seen, 4096)) // 16) # it would have been seen
END
for with in "" "${less[*]}"; do
    for command in 'save -o copy.weft' explain ctl; do
        # shellcheck disable=SC2086
        run 0 python3 mapped.py $with "$WEFT" $command
        [ "$command" = ctl ] && status=1 || status=0 # the others look from outside
        equal "$with $command: status, opened; a real one" "$status 0 1" "$(tr '\n' ' ' <"$tmp/out" | sed 's/ $//')"
    done
done
finish
