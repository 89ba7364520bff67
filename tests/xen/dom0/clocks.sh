# SPDX-License-Identifier: ISC
# Cause and effect across the guest's and the control domain's traces (cause.c), merged by the wall clock.
# shellcheck shell=dash disable=SC2046,SC2086,SC3043
# shellcheck disable=SC2154 # first: number of the guest

rounds=50

# A copy of the guest's trace that says how its clock stands to ours, within 0.3 ms: it looks while the guest records. It is
# less precise if the machine that emulates us was busy.
save_precisely() {
    weft save -o /tmp/guest.weft xen:first && weft info --json /tmp/guest.weft >/tmp/info || return 1
    error_ns=$(sed -n 's/.*"error_ns": \([0-9]*\).*/\1/p' /tmp/info)
    [ "${error_ns:-999999999}" -lt 300000 ]
}

# How far the guest's clock is from ours, as a copy says, and within what: "nanoseconds error". Its clock counts nanoseconds.
distance() { # COPY
    grep -o 'wall=[0-9]*:[0-9]*:[0-9]*' "$1" | head -n 1 | sed 's/wall=//' | {
        IFS=: read -r ticks real error
        echo $((real - ticks)) "$error"
    }
}

# Whether the clocks have moved against one another since that copy was made.
have_moved() { # DISTANCE ERROR
    local distance error
    cp /tmp/guest.weft /tmp/then.weft
    until_true 300 save_precisely || return 1
    read -r distance error <<END
$(distance /tmp/guest.weft)
END
    mv /tmp/then.weft /tmp/guest.weft
    note "clocks: the distance was $1 ns, and is $distance ns"
    [ $((distance - $1)) -gt $((error + $2)) ] || [ $(($1 - distance)) -gt $((error + $2)) ]
}

# The marks of both traces in their order, as lines "time round step"; those of the last rounds that are whole.
put_marks() {
    weft dump /tmp/dom0.weft /tmp/guest.weft |
        sed -n 's/^[^ ]* \([0-9]*\) .* creates .*label="\([0-9]*\) \([a-z]*\)".*/\1 \2 \3/p' >/tmp/all
    awk -v rounds=$rounds '
        FNR == NR { if (++marks[$2] == 4 && $2 > last) last = $2; next }
        $2 > last - rounds && $2 <= last' /tmp/all /tmp/all >/tmp/marks
}

# Writes "verdict lags". steady: there is a distance between the clocks by which every round is in order, and weft has found
# it; wrong: there is, but it is another one; moved: there is none, so the clocks themselves have moved.
judge_marks() {
    awk '
        { at[$2, $3] = $1 }
        $3 == "returns" { returned[$2] = 1 }
        END {
            for (n in returned) {
                there = (at[n, "arrives"] - at[n, "sends"]) / 1000
                back = (at[n, "returns"] - at[n, "answers"]) / 1000
                if (!some++) { least_there = most_there = there; least_back = most_back = back }
                if (there < least_there) least_there = there
                if (there > most_there) most_there = there
                if (back < least_back) least_back = back
                if (back > most_back) most_back = back
            }
            verdict = "steady"
            if (least_there < 0 || least_back < 0) verdict = "wrong"
            if (least_there + least_back < 0) verdict = "moved"
            printf "%s: there %d to %d us, back %d to %d us\n", verdict, least_there, most_there, least_back, most_back
        }' /tmp/marks
}

# In each round the marks come in the order of cause and effect.
are_in_order() {
    awk '
        BEGIN { split("sends arrives answers returns", step) }
        NR == 1 { first = $2 }
        $3 != step[(NR - 1) % 4 + 1] || $2 != first + int((NR - 1) / 4) { wrong = 1 }
        END { exit wrong || NR == 0 }' /tmp/marks
}

has_answered() { # ROUND
    [ "$(xenstore-read "/local/domain/$first/data/lab/pong")" -ge "$1" ]
}

# If the clocks have moved so much that no distance between them is right, that says nothing of weft: it is tried again.
case_clocks() {
    local leader try verdict=
    begin $first cause || return 0
    WEFT_TRACE=/tmp/dom0.weft cause $first &
    leader=$!
    await 120 "/local/domain/$first/data/lab/pong" >/dev/null
    for try in 1 2 3 4 5 6 7 8; do
        until_true 120 has_answered $((rounds * try)) || fail 'clocks: no more rounds'
        until_true 300 save_precisely || fail "clocks: the guest's clock is known within $error_ns ns only"
        put_marks
        verdict=$(judge_marks)
        note "clocks: known within $error_ns ns; $verdict"
        # Or they have moved after the copy: then how far they were from one another before says nothing of these marks.
        if [ "${verdict%%:*}" = wrong ] && have_moved $(distance /tmp/guest.weft); then verdict=moved; fi
        [ "${verdict%%:*}" = moved ] || break
    done
    kill $leader
    start $first 'busybox killall cause'
    ended $first
    equal 'clocks: marks' $((4 * rounds)) "$(wc -l </tmp/marks)"
    if are_in_order; then
        ok 'clocks: cause before effect'
    else
        fail 'clocks: cause before effect'
    fi
}
