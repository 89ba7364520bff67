#!/bin/bash
# SPDX-License-Identifier: ISC
# What becomes of the program, and of the trace, when the file is mistreated, or cannot be made.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/controlled.sh"
[ -x "${CONTROLLED:-}" ] || skip 'CONTROLLED is not set'
cd "$tmp"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FD
export WEFT_TRACE_SIZE=1048576
mounts=()
trap 'for m in "${mounts[@]}"; do umount "$m"; done; chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT

# once PATTERN: the only line that the program has said on standard error
once() {
    says said "^weft: .*($1).*; the program runs on without recording\$"
    equal 'lines said' 1 "$(wc -l <said)"
    : >said
}

# runs PATTERN FILE [COMMAND...]: the program runs to its end without recording, and says why
runs() {
    local pattern=$1 file=$2
    shift 2
    begin env WEFT_TRACE="$file" "$@" "$CONTROLLED_STATIC"
    tell rounds 1000
    end
    once "$pattern"
}
: >said

# try_mount FOLDER ARGUMENTS...: of mount
try_mount() {
    local folder=$1
    shift
    mkdir -p "$folder"
    if mount "$@" "$folder" 2>/dev/null; then
        mounts+=("$tmp/$folder")
    else
        echo "not tried: no right to mount, or the system has no such: $*"
        return 1
    fi
}

# ---- Cut while it is mapped ----
# This is how it is, and docs/guide.md says so: a store behind the end of a file is a SIGBUS.
sanitized=$(grep -c -e __asan_init -e __tsan_init "$CONTROLLED_STATIC" || :)
if [ "$sanitized" -eq 0 ]; then
    begin env WEFT_TRACE="$tmp/cut.weft" "$CONTROLLED"
    tell rounds 10
    truncate -s 0 cut.weft
    send rounds 10
    answer || :
    end 135
fi
# This is what avoids it: there is no file.
begin "$WEFT" record --memory --size 1M -o whole.weft "$CONTROLLED"
tell rounds 10
inner=$(pgrep -P "$pid")
equal 'a file before the end' '' "$(ls whole.weft* 2>/dev/null)"
run 0 "$WEFT" save -o saved.weft "$inner"
equal 'events saved from it' 20 "$(events saved.weft)"
run 0 "$WEFT" ctl "$inner"
says "$tmp/out" 'state    recording'
says "$tmp/out" 'into     /memfd:weft'
says "$tmp/out" 'events   20 kept'
for fd in "/proc/$pid/fd/"*; do
    case $(readlink "$fd") in
        /memfd:*) run 1 truncate -s 0 "$fd" ;;
    esac
done
equal 'descriptors of the program' '0 1 2' "$(cd "/proc/$inner/fd" && echo *)"
tell rounds 100000
end
says said '^weft: whole.weft: [0-9,]+ events, '
"$WEFT" info --json whole.weft >json
equal 'events in memory' 200020 "$(json json 'd["events_total"] + d["overwritten"] + d["discarded"]')"
equal 'how it ended' stopped "$(json json 'd["ended"]')"
equal 'whose it is' '600 1048576' "$(stat -c '%a %s' whole.weft)"
: >said
# Killed; an older one is kept
run 137 "$WEFT" record --memory --size 1M -o whole.weft "$RECORDED" rounds 10 kill
says "$tmp/err" '^weft: whole.weft: 40 events.*; killed by signal 9'
equal 'how it ended' killed "$("$WEFT" info --json whole.weft >json; json json 'd["ended"]')"
equal 'the older one' 200020 "$("$WEFT" info --json whole.weft.old >json; json json 'd["events_total"] + d["overwritten"]')"
run 0 "$WEFT" record --memory --size 1M -o none.weft true
says "$tmp/err" 'nothing was recorded: it is not linked with weft'
equal 'traces of nothing' '' "$(ls none.weft* 2>/dev/null)"
run 0 "$WEFT" record --memory --size 1M -o sh.weft sh -c "exec '$RECORDED' rounds 10"
equal 'events after exec' 40 "$(events sh.weft)"
run 0 "$WEFT" record --memory --size 1T -o big.weft "$RECORDED" rounds 10
says "$tmp/err" '^weft: .*; the program runs on without recording$'

# ---- Deleted ----
begin env WEFT_TRACE="$tmp/gone.weft" "$CONTROLLED"
tell rounds 10
rm gone.weft
tell rounds 10
run 0 "$WEFT" ctl "$pid"
says "$tmp/out" '^  into     .*/gone.weft \(deleted\)'
if [ "$(id -u)" -eq 0 ]; then
    run 0 "$WEFT" save -o back.weft "$pid"
    equal 'events of a deleted trace' 40 "$(events back.weft)"
else
    echo 'not tried to save a deleted trace: only root can reach it'
fi
end

# ---- A disk that fills up, before and after ----
if try_mount full -t tmpfs -o size=3M weft; then
    begin env WEFT_TRACE="$tmp/full/a.weft" "$CONTROLLED"
    head -c 10M /dev/zero >full/rest 2>/dev/null || :
    tell rounds 100000
    end
    "$WEFT" info --json full/a.weft >json
    equal 'events on a disk that is full' 200000 "$(json json 'd["events_total"] + d["overwritten"]')"
    runs 'No space left' "$tmp/full/b.weft"
    equal 'what is left there' 'a.weft rest' "$(cd full && echo *)"
    mount -o remount,ro "$tmp/full"
    rm -f full/b.weft 2>/dev/null || :
    runs 'Read-only file system' "$tmp/full/b.weft"
    run 0 "$WEFT" record -o full/b.weft "$RECORDED" rounds 1
    says "$tmp/err" '^weft: full/b.weft: cannot be created: Read-only file system; the program runs on'
fi
# An ordinary file system on a disk; one that can take no room beforehand
for kind in ext4 ext2 vfat; do
    if ! command -v "mkfs.$kind" >/dev/null; then
        echo "not tried: there is no mkfs.$kind"
        continue
    fi
    head -c 8M /dev/zero >image
    "mkfs.$kind" image >/dev/null 2>&1 || continue
    if try_mount "disk-$kind" -o loop image; then
        begin env WEFT_TRACE="$tmp/disk-$kind/a.weft" "$CONTROLLED"
        head -c 10M /dev/zero >"disk-$kind/rest" 2>/dev/null || :
        sync -f "disk-$kind/rest" 2>/dev/null || :
        tell rounds 100000
        end
        "$WEFT" info --json "disk-$kind/a.weft" >json
        equal "events on a full $kind" 200000 "$(json json 'd["events_total"] + d["overwritten"]')"
        runs 'No space left' "$tmp/disk-$kind/b.weft"
        equal "what is left on $kind" 'a.weft rest' "$(cd "disk-$kind" && echo a* b* rest* | sed 's/ b\*//')"
        umount "disk-$kind"
        unset 'mounts[-1]'
    fi
done

# ---- Where there is no /proc, a trace of a program that was killed is replaced nevertheless ----
if [ "$sanitized" -eq 0 ] && unshare -m mount -t tmpfs none /proc 2>/dev/null; then
    for _ in 1 2; do # without a shell that would say that it was killed; libraries are not found there
        run 137 unshare -m sh -c 'mount -t tmpfs none /proc && WEFT_TRACE=no_proc.weft exec "$0" kill 2>err' \
            "$RECORDED_STATIC"
        silent err
    done
else
    echo 'not tried without /proc: only root can have that, and sanitizers need it'
fi

# ---- Limits ----
begin bash -c 'ulimit -f 512 && exec "$0"' "$CONTROLLED_STATIC"
equal 'what the program is told' 'weft_start: File too large' "$(tell start limited.weft)"
end
begin env WEFT_TRACE="$tmp/limited.weft" bash -c 'ulimit -f 512 && exec "$0"' "$CONTROLLED_STATIC"
tell rounds 1000
end
once 'File too large'
if [ "$sanitized" -eq 0 ]; then
    begin env WEFT_TRACE="$tmp/limited.weft" WEFT_TRACE_SIZE=1073741824 bash -c 'ulimit -v 500000 && exec "$0"' "$CONTROLLED_STATIC"
    tell rounds 1000
    end
    once 'Cannot allocate memory'
fi
equal 'files of refused traces' '' "$(ls limited.weft* 2>/dev/null)"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null &&
    try_mount quota -t tmpfs -o usrquota,usrquota_block_hardlimit=512K weft; then
    chmod 755 "$tmp"
    chmod 777 quota
    cp "$CONTROLLED_STATIC" quota/controlled
    begin setpriv --reuid 65534 --regid 65534 --clear-groups env WEFT_TRACE="$tmp/quota/a.weft" quota/controlled
    tell rounds 1000
    end
    once 'quota exceeded'
    equal 'what is left there' controlled "$(ls quota)"
fi

# ---- exec: the program's trace, and that of the one that it becomes ----
begin env WEFT_TRACE="$tmp/x.weft" "$CONTROLLED"
tell rounds 1
tell exec
tell rounds 2
equal 'before and after exec' '2 4' "$(events x.weft.1) $(events x.weft)"
equal 'how the first one ended' stopped "$("$WEFT" info --json x.weft.1 >json; json json 'd["ended"]')"
tell exec
tell rounds 3
equal 'after one more' '4 6' "$(events x.weft.1) $(events x.weft)"
end
equal 'traces' 'x.weft x.weft.1' "$(echo x.weft*)"
echo mine >x.weft.1
begin env WEFT_TRACE="$tmp/x.weft" "$CONTROLLED"
tell exec
tell rounds 4
equal 'what is no trace' 'mine 8' "$(cat x.weft.1) $(events x.weft)"
end
run 0 "$WEFT" record -o y.weft "$RECORDED" rounds 1
begin "$WEFT" record --size 1M -o y.weft "$CONTROLLED"
tell rounds 1
tell exec
tell rounds 2
end
equal 'with weft record' '4 2 4' "$(events y.weft.old) $(events y.weft.1) $(events y.weft)"
: >said

# ---- Who writes it? ----
# A child that stays does not keep it
begin env WEFT_TRACE="$tmp/l.weft" "$CONTROLLED"
tell rounds 1
child=$(tell orphan)
run 0 env WEFT_TRACE="$tmp/l.weft" "$RECORDED" rounds 10
says "$tmp/err" 'is being written by another process'
kill -9 "$pid"
end 137 2>/dev/null
run 0 env WEFT_TRACE="$tmp/l.weft" "$RECORDED" rounds 10
silent "$tmp/err"
equal 'events' 40 "$(events l.weft)"
kill -9 "$child"
# Somebody in another pid namespace
if unshare -p --fork --kill-child true 2>/dev/null; then
    begin unshare -p --fork --kill-child env WEFT_TRACE="$tmp/ns.weft" "$CONTROLLED"
    tell rounds 1
    run 0 env WEFT_TRACE="$tmp/ns.weft" "$RECORDED" rounds 10
    says "$tmp/err" 'is being written by another process'
    equal 'events of the one in there' 2 "$(events ns.weft)"
    end
    run 0 env WEFT_TRACE="$tmp/ns.weft" "$RECORDED" rounds 10
    silent "$tmp/err"
else
    echo 'not tried with pid namespaces: no right to make them'
fi
# Many at once: one gets it
for _ in 1 2 3 4 5 6 7 8; do
    WEFT_TRACE=$tmp/race.weft "$RECORDED" rounds 10 ready sleep >>ready 2>>race &
done
while [ "$(grep -c ready ready)" -lt 8 ] && kill -0 $(jobs -p) 2>/dev/null; do :; done
equal 'who got it' '40 still running' "$(events race.weft) $(json "$tmp/json" 'd["ended"]')"
equal 'who did not' 7 "$(grep -c 'is being written by another process' race)"
equal 'names' 'race.weft' "$(echo race.weft*)"
kill $(jobs -p)
wait || :
: >said
silent said
finish
