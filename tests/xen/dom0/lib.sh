# SPDX-License-Identifier: ISC
# For the cases, in busybox's sh: descriptor 3 is where the verdict goes, standard output the console. What fails is
# said and counted, and the cases go on.
# shellcheck shell=dash disable=SC2086,SC3043

checks=0
failures=0
orders=0

argument() { # NAME: of the kernel's command line, lab.NAME=
    sed -n "s/.*lab\.$1=\([^ ]*\).*/\1/p" /proc/cmdline
}

# Busybox has a process for nearly everything, and under emulation one takes 20 ms: hence the shell's own means here.
now() { # in $now: seconds since the start, with two decimals
    read -r now _ </proc/uptime
}

say() {
    now
    echo "lab [$now] $*"
}

switch_off() {
    sync
    exec 3>&-
    poweroff -f
    sleep 600
}

verdict() {
    if [ "$failures" -gt 0 ]; then
        head -n 400 /var/log/xen/console/*.log /var/log/xen/*.log
    fi
    say "verdict: $checks checks, $failures failed"
    echo "verdict: $checks checks, $failures failed" >&3
    switch_off
}

give_up() { # WHY
    fail "$*"
    head -n 200 /var/log/xen/*.log
    verdict
}

ok() { # WHAT
    checks=$((checks + 1))
    say "ok: $*"
    echo "[$now] ok: $*" >&3
}

fail() { # WHAT
    checks=$((checks + 1))
    failures=$((failures + 1))
    say "FAILED: $*"
    echo "[$now] FAILED: $*" >&3
}

note() { # WHAT: no check
    say "$*"
    echo "[$now] $*" >&3
}

# check WHAT STATUS COMMAND...: its output in /tmp/out, messages in /tmp/err
check() {
    local what=$1 wanted=$2 status=0
    shift 2
    "$@" >/tmp/out 2>/tmp/err </dev/null || status=$?
    if [ "$status" -eq "$wanted" ]; then
        ok "$what"
        return 0
    fi
    fail "$what: status $status instead of $wanted: $*"
    head -n 5 /tmp/err >&3
    [ -s /tmp/err ] || head -c 2000 /tmp/out >&3
    return 1
}

says() { # WHAT FILE PATTERN: some line of the file matches
    if grep -Eq -e "$3" "$2"; then
        ok "$1"
    else
        fail "$1: no line matches '$3'; it says:"
        head -n 5 "$2" >&3
    fi
}

equal() { # WHAT EXPECTED FOUND
    if [ "$2" = "$3" ]; then
        ok "$1"
    else
        fail "$1: expected '$2', found '$3'"
    fi
}

# until_true SECONDS COMMAND...: until it succeeds
until_true() {
    local end
    now
    end=$((${now%.*} + $1))
    shift
    until "$@"; do
        now
        [ "${now%.*}" -lt $end ] || return 1
        usleep 50000
    done
}

# ---- Guests ----

# The clocks of all domains are the emulator's counter at one rate: Xen's own time is corrected each second, by milliseconds,
# as the emulator is not always on time, and a guest that finds out the rate by itself is wrong by some parts in a thousand.
# (If the processor's rate seems to be another one than the counter's, the kernel says both, the counter's last.)
khz=$(dmesg | sed -n 's/.*tsc: Detected \([0-9]*\)\.\([0-9]*\) MHz.*/\1\2/p' | tail -n 1)

# create NAME MEGABYTES SETTING...: its number is in $NAME
create() {
    local name=$1 memory=$2
    shift 2
    xl create /domU/guest.cfg "type=\"$kind\"" "name=\"$name\"" "memory=$memory" \
        "extra=\"console=hvc0 quiet clocksource=tsc tsc=reliable tsc_early_khz=$khz\"" "$@" >/tmp/create 2>&1 || {
        cat /tmp/create >&3
        give_up "xl create $name"
    }
    eval "$name=$(xl domid "$name")"
}

# key NUMBER KEY: its value is in $value; there may be none
key() {
    value=$(xenstore-read "/local/domain/$1/data/$2" 2>/dev/null) || value=
}

# start NUMBER COMMAND: runs it in the guest
start() {
    xenstore-rm "/local/domain/$1/data/lab/ready" 2>/dev/null
    orders=$((orders + 1))
    started=$orders
    xenstore-write "/local/domain/$1/data/lab/run" "$orders $2"
}

# begin NUMBER COMMAND: … and waits until it says that it is ready
begin() {
    start "$1" "$2"
    await 120 "/local/domain/$1/data/lab/ready" >/dev/null && return
    key "$1" "lab/ended/$started"
    fail "$2: is not ready; status $value"
    return 1
}

# ended NUMBER: waits until what was started last has ended
ended() {
    await 120 "/local/domain/$1/data/lab/ended/$started" >/dev/null || fail 'the program does not end'
}

# tell NUMBER WORDS: the program that runs there
tell() {
    orders=$((orders + 1))
    xenstore-write "/local/domain/$1/data/lab/order" "$orders $2"
}

# order NUMBER WORDS: … and waits for its answer, which is in $answer
order() {
    tell "$1" "$2"
    answer=$(await 120 "/local/domain/$1/data/lab/order-answer" "$orders ") || {
        fail "order '$2' is not answered"
        return 1
    }
}

state() { # NUMBER
    xl list "$1" 2>/dev/null | awk 'NR == 2 { print $5 }'
}

is_state() { # NUMBER LETTER
    case $(state "$1") in *"$2"*) return 0 ;; esac
    return 1
}

is_gone() { # NUMBER
    ! xl list 2>/dev/null | awk -v id="$1" '$2 == id { found = 1 } END { exit !found }'
}

# How many pages of guests are mapped, as the hypervisor counts them, but for those of XenStore and of the console.
mapped() {
    xl dmesg -c >/dev/null
    xl debug-keys g
    xl dmesg | grep '^(XEN).*\[0x[0-9a-f]*\]  *[0-9]* 0x' | grep -vc '\[0x00[01]\]'
}
