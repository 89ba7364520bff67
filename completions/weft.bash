# SPDX-License-Identifier: ISC
# bash completion for weft

# Programs, then their arguments as they complete theirs.
_weft_program()
{
    local i
    for ((i = 2; i <= COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            -o | --output | --size | -F | --frequency | -c | --count | -e | --event | -p | --process | --duration) ((i++)) ;;
            --)
                ((i++))
                break
                ;;
            -*) ;;
            *) break ;;
        esac
    done
    [ "$i" -le "$COMP_CWORD" ] || return 1
    if declare -F _command_offset >/dev/null; then
        _command_offset "$i"
    elif [ "$i" -eq "$COMP_CWORD" ]; then
        mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[i]}")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
    fi
}

# Files whose names end in one of the suffixes (a|b|c), and directories.
_weft_files()
{
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -X "!*.@($1)" -- "$2"; compgen -d -- "$2")
}

_weft_words()
{
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

# Xen domains that offer a trace.
_weft_domains()
{
    _weft_words "$(weft save xen: 2>/dev/null | awk 'NR > 1 { print $2 }')" "$1"
}

_weft()
{
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} commands='record sample ctl save info dump promises render view html export explain stats diff profile kprof' options
    COMPREPLY=()

    if [ "$COMP_CWORD" -eq 1 ]; then
        _weft_words "$commands help --help --version" "$current"
        return
    fi
    case $command in
        record)
            options='--output --size --memory --sample --sample= --off-cpu --xen --force --help'
            case $previous in
                -o | --output | --size) ;;
                *) ! _weft_program || return ;;
            esac
            ;;
        sample)
            options='--output --frequency --count --event --process --all --duration --dwarf --dwarf= --no-kernel
                     --off-cpu --no-switches --interrupts --no-symbols --help'
            case $previous in
                -o | --output | -F | --frequency | -c | --count | -e | --event | -p | --process | --duration) ;;
                *) ! _weft_program || return ;;
            esac
            ;;
        ctl) options='--output --size --wait --help' ;;
        save) options='--output --follow --limit --json --help' ;;
        info) options='--json --promises --help' ;;
        dump) options='--from --to --help' ;;
        promises) options='--raw --help' ;;
        render) options='--output --format --at --from --to --size --select --search --finding --path --diff
                         --no-counters --no-samples --no-legend --raw --theme --flame --promise --label --by
                         --off-cpu --async-stacks --async-stacks= --no-symbols --help' ;;
        view) options='--at --from --to --select --finding --diff --search --raw --theme --tour --help' ;;
        html) options='--output --empty --at --finding --diff --title --raw --help' ;;
        export) options='--to --output --from --pid --period --off-cpu --async-stacks --async-stacks= --sysroot
                         --kallsyms --no-symbols --help' ;;
        explain) options='--json --check --check= --only --ignore --accept --all --promise --hang --slow-wake
                          --block --turn --never-yield --spin --self-wakes --leak --serial --serial-saving --herd
                          --help' ;;
        stats) options='--by --sort --top --histogram --raw --json --help' ;;
        diff) options='--json --check --all --help' ;;
        profile)
            options='--top --tree --lines --by --off-cpu --diff --json --event --from --to --promise --label --thread
                     --async-stacks --async-stacks= --fold --fold= --limit --min --sysroot --kallsyms --no-symbols --help'
            ;;
        kprof) options='--foreground --kpdata --user-stacks --queue --allow-other --owner --help' ;;
        help)
            [ "$COMP_CWORD" -ne 2 ] || _weft_words "$commands" "$current"
            return
            ;;
        *) return ;;
    esac

    # Bash splits words at colons.
    if [ "$previous $current" = 'xen :' ]; then
        _weft_domains ''
        return
    elif [ "${COMP_WORDS[COMP_CWORD - 2]} $previous" = 'xen :' ]; then
        _weft_domains "$current"
        return
    fi

    case $command:$previous in
        record:-o | record:--output | ctl:-o | ctl:--output | save:-o | save:--output) _weft_files 'weft|trace' "$current" ;;
        record:--size) ;;
        sample:-o | sample:--output) _weft_files 'samples|weft|trace' "$current" ;;
        sample:-e | sample:--event)
            _weft_words 'cpu-clock task-clock cycles instructions cache-references cache-misses branches branch-misses
                         page-faults minor-faults major-faults context-switches cpu-migrations' "$current"
            ;;
        sample:-p | sample:--process) mapfile -t COMPREPLY < <(cd /proc && compgen -G '[0-9]*' | grep "^$current") ;;
        sample:-F | sample:--frequency | sample:-c | sample:--count | sample:--duration) ;;
        render:-o | render:--output | render:--flame) _weft_files 'svg|png|pdf' "$current" ;;
        render:--format) _weft_words 'svg png pdf' "$current" ;;
        render:--by) _weft_words 'function promise label root thread core' "$current" ;;
        render:--promise | render:--label) ;;
        render:--theme) _weft_words 'light dark auto' "$current" ;;
        view:--theme) _weft_words 'light dark' "$current" ;;
        view:--at | render:--at | view:--to) ;;
        html:-o | html:--output) _weft_files 'html' "$current" ;;
        html:--at | html:--title) ;;
        export:--to) _weft_words 'ctf mirage pprof pprof-legacy' "$current" ;;
        export:--from) _weft_words 'akaros kpdata perf' "$current" ;;
        export:--pid | export:--period) ;;
        export:--kallsyms) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
        export:-o | export:--output) _weft_files 'ctf|pb.gz|prof' "$current" ;;
        save:--limit) ;;
        ctl:-s | ctl:-w | ctl:--wait) ;;
        explain:--only | explain:--ignore)
            _weft_words 'deadlock lost-wakeup hang-root never-resolved swallowed-failure loop-blocked spin leak
                         slow-wake herd serial-waits' "$current"
            ;;
        explain:=) [ "${COMP_WORDS[COMP_CWORD - 2]}" != --check ] || _weft_words 'certain likely possible' "$current" ;;
        explain:--check)
            if [ "$current" = = ]; then _weft_words 'certain likely possible' ''; else _weft_files 'ctf|weft|trace' "$current"; fi
            ;;
        explain:--accept) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
        explain:--promise | explain:--hang | explain:--slow-wake | explain:--block | explain:--turn) ;;
        explain:--never-yield | explain:--spin | explain:--self-wakes | explain:--leak | explain:--herd) ;;
        explain:--serial | explain:--serial-saving) ;;
        kprof:--kpdata) _weft_words 'auto records histogram' "$current" ;;
        kprof:--owner) mapfile -t COMPREPLY < <(compgen -u -- "$current") ;;
        kprof:--user-stacks | kprof:--queue) ;;
        kprof:[!-]* | kprof:-f | kprof:--foreground | kprof:--allow-other)
            compopt -o filenames 2>/dev/null
            case $current in
                -*) _weft_words "$options" "$current" ;;
                *) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
            esac
            ;;
        profile:--by) _weft_words 'function promise label family root thread core' "$current" ;;
        profile:= | export:= | render:=)
            case ${COMP_WORDS[COMP_CWORD - 2]} in
                --async-stacks) _weft_words 'creators waits' "$current" ;;
                --fold) _weft_words 'yes no' "$current" ;;
            esac
            ;;
        profile:--fold)
            if [ "$current" = = ]; then _weft_words 'yes no' ''; else _weft_files 'samples|weft|trace|data' "$current"; fi
            ;;
        profile:--kallsyms) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
        profile:--async-stacks | export:--async-stacks | render:--async-stacks)
            if [ "$current" = = ]; then _weft_words 'creators waits' ''; else _weft_files 'samples|weft|trace|data' "$current"; fi
            ;;
        profile:--sysroot | export:--sysroot) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
        profile:--event | profile:--to | profile:--promise | profile:--label | profile:--thread | profile:--limit | profile:--min) ;;
        profile:[!-]* | profile:--top | profile:--tree | profile:--lines | profile:--off-cpu | profile:--json | profile:--diff | profile:--no-symbols)
            case $current in
                -*) _weft_words "$options" "$current" ;;
                *) _weft_files 'samples|weft|trace|ctf|data' "$current" ;;
            esac
            ;;
        stats:--by) _weft_words 'label family type' "$current" ;;
        stats:--sort)
            _weft_words 'total count p50 p90 p99 max failed pending waiting ready running name' "$current"
            ;;
        stats:--top | stats:--histogram) ;;
        *:--from | render:--to | dump:--to | *:--size | *:--select | *:--search) ;;
        *)
            case $current in
                -*) _weft_words "$options" "$current" ;;
                *)
                    _weft_files 'ctf|weft|trace' "$current"
                    [ "$command" != ctl ] ||
                        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W 'status on off stop' -- "$current")
                    ;;
            esac
            ;;
    esac
}

complete -F _weft weft
