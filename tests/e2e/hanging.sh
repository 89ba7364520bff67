#!/bin/bash
# SPDX-License-Identifier: ISC
# Processes that keep whoever looks at them waiting (tools/hanging.c): it ends, and says why. And one in which a device
# stands under the name of what it has mapped: nobody opens that.
. "$(dirname "$0")/lib.sh"
[ -x "${HANGING:-}" ] || skip 'HANGING is not set'
[ "$(id -u)" -eq 0 ] || skip 'only root can keep a file system here'
cd "$tmp"

# hang HOW: sets $pid. Its output is a pipe of its own: what an earlier one has left behind may still hold that one's.
hang() {
    exec 3< <(exec "$HANGING" "$1" 2>"$tmp/why")
    keeper=$!
    read -r pid <&3 || skip "no file system can be kept here: $(cat "$tmp/why")"
    exec 3<&-
}
release() {
    kill -KILL "$keeper"
    wait "$keeper" 2>/dev/null || :
}

hang object
run 1 timeout 300 "$WEFT" ctl "$pid"
says "$tmp/err" "process $pid: does not let itself be looked at: its memory has not answered"
run 0 timeout 300 "$WEFT" save -o copy.weft "$pid" # it is looked at from outside
run 0 "$WEFT" info copy.weft
tr -s ' \n' ' ' <"$tmp/out" >"$tmp/text"
says "$tmp/text" "not seen the functions of process $pid are not known"
release

hang trace
for command in 'save -o copy.weft' explain; do
    # shellcheck disable=SC2086
    run 1 timeout 300 "$WEFT" $command "$pid"
    says "$tmp/err" "process $pid does not let itself be looked at: its files have not answered"
done
release

for how in object code; do
    hang "$how"
    run 0 timeout 300 "$NOW/graph" "$pid"
    says "$tmp/out" "^thing 0 thread $pid 'hanging'; waits in pause"
    says "$tmp/out" "^remark the functions of process $pid are not known"
    release
done

if "$WEFT" sample -o probe.samples true 2>probe.err; then
    hang stack
    run 0 timeout 300 "$WEFT" sample --off-cpu --duration 300ms -o a.samples -p "$pid"
    run 0 "$WEFT" profile --off-cpu a.samples
    release
else
    echo "not tried with samples: $(cat probe.err)"
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
