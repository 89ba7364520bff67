# SPDX-License-Identifier: ISC
# What is tried, in this order. Three guests are there all the time; the first runs most of the programs.
# shellcheck shell=dash disable=SC2086,SC3043
. /cases/reading.sh
. /cases/hostile.sh
. /cases/clocks.sh
. /cases/endings.sh

kind=$(argument kind)
wanted=$(argument cases | tr , ' ')
all='itself nothing up live refused pages large mirage hostile clocks hang exit crash follow_crash follow_destroy follow_off'
by_hand=huge

case_up() {
    local number
    for number in $first $second $third; do
        await 120 "/local/domain/$number/data/lab/up" >/dev/null || give_up "domain $number does not come up"
    done
    ok 'the guests are up'
    xl pause second
    xl pause third
}

run_case() { # NAME
    say "case $1"
    "case_$1"
    equal "$1: nothing is mapped any more" 0 "$(mapped)"
}

note "Xen $(xl info xen_version), guests are $kind"
create first 192 'on_crash="preserve"'
create second 128 'on_crash="destroy"'
create third 128 'on_poweroff="destroy"'

for name in $all $by_hand; do
    case " up ${wanted:-$all} " in *" $name "*) run_case "$name" ;; esac
done
