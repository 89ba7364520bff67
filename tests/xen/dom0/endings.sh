# SPDX-License-Identifier: ISC
# How a guest, or its program, ends: what was recorded until then is there.
# shellcheck shell=dash disable=SC2086,SC3043
# shellcheck disable=SC2154 # first, second, third: numbers of guests; answer

# follow NAME: in the background, until it has mapped the pages; its number is in $follower
follow() {
    rm -f /tmp/a
    weft save --follow -o /tmp/a "xen:$1" >/tmp/followed 2>&1 &
    follower=$!
    until_true 60 grep -q gntdev "/proc/$follower/maps" || fail "--follow $1 maps nothing: $(cat /tmp/followed)"
    [ ! -e /tmp/a ] || fail "--follow $1 has written too early"
}

# followed WHAT PATTERN: it ends, and says why
followed() {
    local status=0 guard
    (sleep 100 && kill -KILL "$follower") &
    guard=$!
    wait "$follower" || status=$?
    kill $guard
    equal "$1: the status" 0 "$status"
    says "$1: why it ended" /tmp/followed "$2"
}

# leaves_nothing WHAT NUMBER: the hypervisor has let go of the domain: nobody has its pages
leaves_nothing() {
    if until_true 60 is_gone "$2"; then
        ok "$1: nothing of it is left"
    else
        fail "$1: it is still there"
    fi
}

# The program ends, not the guest.
case_exit() {
    begin $first writer || return 0
    follow first
    order $first exit
    followed 'follow, exit' 'withdr|taken back|no longer'
    checked 'follow, exit: the copy' /tmp/a stopped -c "$answer"
    refuses 'after its exit' 'offers no trace' xen:first
    begin $first writer || return 0
    follow first
    kill -TERM "$follower"
    followed 'follow, interrupted' ''
    checked 'follow, interrupted: the copy' /tmp/a saved
    order $first exit
    ended $first
}

# on_crash=preserve
case_crash() {
    local counts
    begin $first 'writer -n 60000' || return 0
    tell $first crash
    until_true 120 is_state $first c || fail 'the guest does not crash'
    key $first lab/count
    counts=$value
    check 'crashed' 0 weft save -o /tmp/a xen:first
    says 'crashed: said so' /tmp/err 'crashed'
    checked 'crashed: everything up to then' /tmp/a killed -l -c "$counts"
    note "crashed: $seen"
    check 'crashed, again' 0 weft save -o /tmp/b xen:first
    check 'crashed: twice the same' 0 cmp /tmp/a /tmp/b
    check 'crashed: list' 0 weft save xen:
    says 'crashed: the list says so' /tmp/out 'first +crashed .*weft.*killed'
    check 'crashed: info' 0 weft info --json xen:first
    says 'crashed: info says so' /tmp/out '"ended": "killed"'
    check 'crashed: follow' 0 weft save --follow -o /tmp/b xen:first
    check 'crashed: follow is the same' 0 cmp /tmp/a /tmp/b
    xl destroy first
    leaves_nothing 'destroyed' $first
    refuses 'destroyed' 'no such domain' xen:first
}

# on_crash=destroy
case_follow_crash() {
    xl unpause second
    begin $second writer || return 0
    follow second
    tell $second crash
    followed 'follow, crash' 'crashed|is gone|destroyed'
    checked 'follow, crash: everything up to then' /tmp/a killed -l
    leaves_nothing 'follow, crash' $second
}

case_follow_destroy() {
    xl unpause third
    begin $third 'writer -b 4194304' || return 0
    follow third
    order $third count
    xl destroy third
    followed 'follow, destroy' 'is gone|destroyed'
    checked 'follow, destroy: the copy' /tmp/a killed -c "$answer"
    leaves_nothing 'follow, destroy' $third
}

# A guest that did not exist when the waiting began, and that switches itself off; on_poweroff=preserve
case_follow_off() {
    rm -f /tmp/a
    weft save --follow -o /tmp/a xen:fourth >/tmp/followed 2>&1 &
    follower=$!
    create fourth 128 'on_poweroff="preserve"'
    await 120 "/local/domain/$fourth/data/lab/up" >/dev/null || give_up 'fourth does not come up'
    begin $fourth writer || return 0
    order $fourth count
    tell $fourth poweroff
    followed 'follow, power off' 'shut down'
    checked 'follow, power off: the copy' /tmp/a killed -c "$answer"
    check 'off' 0 weft save -o /tmp/b xen:fourth
    checked 'off: the copy' /tmp/b killed
    xl destroy fourth
    leaves_nothing 'off, destroyed' $fourth
}
