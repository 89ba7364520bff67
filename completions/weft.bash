# SPDX-License-Identifier: ISC
# bash completion for weft

# Programs, then their arguments as they complete theirs.
_weft_program()
{
    local i
    for ((i = 2; i <= COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            -o | --output | --size | --pending | -F | --frequency | -c | --count | -e | --event | -p | --process | --duration) ((i++)) ;;
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
    elif [ "$i" -eq "$COMP_CWORD" ] && [[ $current != */* ]]; then
        mapfile -t list < <(compgen -c)
        _weft_words "$current" "${list[@]}"
    else
        _weft_files '*' "$current"
    fi
}

# The text that a word stands for, as far as it is typed: $plain.
_weft_plain()
{
    local i c quote=
    plain=
    for ((i = 0; i < ${#1}; i++)); do
        c=${1:i:1}
        case $quote$c in
            \'\' | \"\") quote= ;;
            \' | \") quote=$c ;;
            \\ | \"\\) plain+=${1:i+1:1} i=$((i + 1)) ;;
            *) plain+=$c ;;
        esac
    done
}

# Files whose names end in one of the suffixes (a|b|c; *: all; /: none), and directories. What has to be expanded is
# left to the shell.
_weft_files()
{
    local plain
    compopt -o filenames 2>/dev/null
    case $2 in
        [~\$]* | \"\$*)
            compopt -o default 2>/dev/null
            return
            ;;
    esac
    _weft_plain "$2"
    mapfile -d '' -t COMPREPLY < <(
        set +f
        shopt -s nullglob
        shopt -u failglob
        for name in "$plain"*; do
            [[ ! -d $name && $1 != '*' && ! $name =~ \.($1)$ ]] || printf '%s\0' "$name"
        done
    )
}

# Of the words $2, $3 … those that begin with $1. Anybody may have named a domain: words are compared and quoted, never evaluated,
# which compgen -W would do.
_weft_words()
{
    local plain word
    _weft_plain "$1"
    shift
    for word; do
        if [[ $word = "$plain"* ]]; then
            printf -v word %q "$word"
            COMPREPLY+=("${word//:/\\:}")
        fi
    done
}

# Xen domains that offer a trace. The escapes of JSON are some of those that printf knows.
_weft_domains()
{
    local line names=()
    while IFS= read -r line; do
        [[ $line =~ ^\ *\"name\":\ \"(.*)\",$ ]] || continue
        printf -v line %b "${BASH_REMATCH[1]//\\\"/\"}"
        names+=("$line")
    done < <(weft save --json xen: 2>/dev/null)
    _weft_words "$1" "${names[@]}"
}

_weft()
{
    local IFS=$' \t\n' list
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} commands='record sample ctl save info dump promises render view html export explain stats diff profile kprof' options
    COMPREPLY=()

    if [ "$COMP_CWORD" -eq 1 ]; then
        _weft_words "$current" $commands help --help --version
        return
    fi
    case $command in
        record)
            options='--output --size --pending --memory --sample --sample= --off-cpu --runtimes --list-runtimes --xen --force --help'
            case $previous in
                -o | --output | --size | --runtimes) ;;
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
        dump) options='--from --to --full --help' ;;
        promises) options='--raw --full --help' ;;
        render) options='--output --format --at --from --to --size --select --search --finding --path --diff
                         --no-counters --no-samples --no-legend --raw --theme --flame --promise --label --by
                         --off-cpu --async-stacks --async-stacks= --no-symbols --help' ;;
        view) options='--at --from --to --select --finding --diff --search --raw --theme --tour --help' ;;
        html) options='--output --empty --at --finding --diff --title --raw --help' ;;
        export) options='--to --output --full --from --pid --period --off-cpu --async-stacks --async-stacks= --sysroot
                         --kallsyms --no-symbols --help' ;;
        explain) options='--json --check --check= --only --ignore --accept --words --all --promise --hang --slow-wake
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
            [ "$COMP_CWORD" -ne 2 ] || _weft_words "$current" $commands
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
        record:--runtimes) _weft_words "$current" python node ocaml none ;;
        sample:-o | sample:--output) _weft_files 'samples|weft|trace' "$current" ;;
        sample:-e | sample:--event)
            _weft_words "$current" cpu-clock task-clock cycles instructions cache-references cache-misses branches branch-misses
                page-faults minor-faults major-faults context-switches cpu-migrations
            ;;
        sample:-p | sample:--process)
            list=(/proc/[0-9]*)
            _weft_words "$current" "${list[@]#/proc/}"
            ;;
        sample:-F | sample:--frequency | sample:-c | sample:--count | sample:--duration) ;;
        render:-o | render:--output | render:--flame) _weft_files 'svg|png|pdf' "$current" ;;
        render:--format) _weft_words "$current" svg png pdf ;;
        render:--by) _weft_words "$current" function promise label root thread core ;;
        render:--promise | render:--label) ;;
        render:--theme) _weft_words "$current" light dark auto ;;
        view:--theme) _weft_words "$current" light dark ;;
        view:--at | render:--at | view:--to) ;;
        html:-o | html:--output) _weft_files 'html' "$current" ;;
        html:--at | html:--title) ;;
        export:--to) _weft_words "$current" ctf mirage pprof pprof-legacy ;;
        export:--from) _weft_words "$current" akaros kpdata perf ;;
        export:--pid | export:--period) ;;
        export:--kallsyms) _weft_files '*' "$current" ;;
        export:-o | export:--output) _weft_files 'ctf|pb.gz|prof' "$current" ;;
        save:--limit) ;;
        ctl:-s | ctl:-w | ctl:--wait) ;;
        explain:--only | explain:--ignore)
            _weft_words "$current" deadlock lost-wakeup hang-root never-resolved pool-exhausted swallowed-failure
                double-resolve loop-blocked spin livelock retry-storm stopped leak gc-pause polling starvation slow-wake herd stampede straggler drift serial-waits contention workers-busy pool-deadlock queue-growth
            ;;
        explain:=) [ "${COMP_WORDS[COMP_CWORD - 2]}" != --check ] || _weft_words "$current" certain likely possible ;;
        explain:--check)
            if [ "$current" = = ]; then _weft_words '' certain likely possible; else _weft_files 'ctf|weft|trace|events|fxt' "$current"; fi
            ;;
        explain:--accept | explain:--words) _weft_files '*' "$current" ;;
        explain:--promise | explain:--hang | explain:--slow-wake | explain:--block | explain:--turn) ;;
        explain:--never-yield | explain:--spin | explain:--self-wakes | explain:--leak | explain:--herd) ;;
        explain:--serial | explain:--serial-saving) ;;
        kprof:--kpdata) _weft_words "$current" auto records histogram ;;
        kprof:--owner)
            mapfile -t list < <(compgen -u)
            _weft_words "$current" "${list[@]}"
            ;;
        kprof:--user-stacks | kprof:--queue) ;;
        kprof:[!-]* | kprof:-f | kprof:--foreground | kprof:--allow-other)
            case $current in
                -*) _weft_words "$current" $options ;;
                *) _weft_files / "$current" ;;
            esac
            ;;
        profile:--by) _weft_words "$current" function promise label family root thread core ;;
        profile:= | export:= | render:=)
            case ${COMP_WORDS[COMP_CWORD - 2]} in
                --async-stacks) _weft_words "$current" creators waits ;;
                --fold) _weft_words "$current" yes no ;;
            esac
            ;;
        profile:--fold)
            if [ "$current" = = ]; then _weft_words '' yes no; else _weft_files 'samples|weft|trace|data' "$current"; fi
            ;;
        profile:--kallsyms) _weft_files '*' "$current" ;;
        profile:--async-stacks | export:--async-stacks | render:--async-stacks)
            if [ "$current" = = ]; then _weft_words '' creators waits; else _weft_files 'samples|weft|trace|data' "$current"; fi
            ;;
        profile:--sysroot | export:--sysroot) _weft_files / "$current" ;;
        profile:--event | profile:--to | profile:--promise | profile:--label | profile:--thread | profile:--limit | profile:--min) ;;
        profile:[!-]* | profile:--top | profile:--tree | profile:--lines | profile:--off-cpu | profile:--json | profile:--diff | profile:--no-symbols)
            case $current in
                -*) _weft_words "$current" $options ;;
                *) _weft_files 'samples|weft|trace|ctf|events|fxt|data' "$current" ;;
            esac
            ;;
        stats:--by) _weft_words "$current" label family type ;;
        stats:--sort)
            _weft_words "$current" total count p50 p90 p99 max failed pending waiting ready running name
            ;;
        stats:--top | stats:--histogram) ;;
        *:--from | render:--to | dump:--to | *:--size | *:--select | *:--search) ;;
        *)
            case $current in
                -*) _weft_words "$current" $options ;;
                *)
                    _weft_files 'ctf|weft|trace|events|fxt' "$current"
                    [ "$command" != ctl ] ||
                        _weft_words "$current" status on off stop
                   ;;
            esac
            ;;
    esac
}

complete -F _weft weft
