# SPDX-License-Identifier: ISC
# Cause and effect across the guest's and the control domain's traces (cause.c), merged by the wall clock.
# shellcheck shell=busybox
# shellcheck disable=SC2154 # first: number of the guest

rounds=50

# A copy of the guest's trace that says how its clock stands to ours, within 5 ms. It is not as precise if whoever emulates
# us was interrupted.
save_precisely() {
    weft save -o /tmp/guest.weft xen:first && weft info --json /tmp/guest.weft >/tmp/info || return 1
    error_ns=$(sed -n 's/.*"error_ns": \([0-9]*\).*/\1/p' /tmp/info)
    [ "${error_ns:-999999999}" -lt 5000000 ]
}

# The guest's copy is made while it records, since then weft sees how its clock stands to the control domain's: their wall
# clocks need not be the same (a guest that has just booted is some 50 ms behind).
case_clocks() {
    local leader
    # Beside us: on one processor it would not record while weft looks.
    xl vcpu-pin "$first" 0 1
    begin $first cause || return 0
    xenstore-rm "/local/domain/$first/data/lab/ping" 2>/dev/null
    WEFT_TRACE=/tmp/dom0.weft cause $first &
    leader=$!
    await 120 "/local/domain/$first/data/lab/pong" $rounds >/dev/null || fail "clocks: not $rounds rounds"
    until_true 60 save_precisely || fail "clocks: the guest's clock is known within $error_ns ns only"
    note "clocks: the guest's is known within $error_ns ns"
    kill $leader
    start $first 'busybox killall cause'
    ended $first
    check 'clocks: both' 0 weft dump /tmp/dom0.weft /tmp/guest.weft
    # The labels of what is created, in order, with their times; of whole rounds.
    sed -n 's/^[^ ]* \([0-9]*\) .* creates .*label="\([0-9]*\) \([a-z]*\)".*/\1 \2 \3/p' /tmp/out |
        awk -v rounds=$rounds '$2 <= rounds' >/tmp/marks
    equal 'clocks: marks' $((4 * rounds)) "$(wc -l </tmp/marks)"
    # In each round they come in order; how long each way takes by the clocks.
    awk '
        BEGIN { split("sends arrives answers returns", step) }
        { if ($3 != step[NR % 4 == 0 ? 4 : NR % 4] || $2 != int((NR + 3) / 4)) wrong++; at[$2, $3] = $1 }
        END {
            for (n = 1; (n, "returns") in at; n++) {
                there = (at[n, "arrives"] - at[n, "sends"]) / 1000
                back = (at[n, "returns"] - at[n, "answers"]) / 1000
                if (n == 1 || there < least_there) least_there = there
                if (n == 1 || there > most_there) most_there = there
                if (n == 1 || back < least_back) least_back = back
                if (n == 1 || back > most_back) most_back = back
            }
            printf "%d marks in the wrong order; there %d to %d us, back %d to %d us\n",
                wrong, least_there, most_there, least_back, most_back
        }' /tmp/marks >/tmp/lags
    equal 'clocks: cause before effect' '0 marks in the wrong order' "$(sed 's/;.*//' /tmp/lags)"
    note "clocks: $(cat /tmp/lags)"
}
