# SPDX-License-Identifier: ISC
# bash completion for weft

# Programs, then their arguments as they complete theirs.
_weft_program()
{
    local i
    for ((i = 2; i <= COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            -o | --output | --size) ((i++)) ;;
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

_weft()
{
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} commands='record ctl save info dump promises render view html export explain stats diff' options
    COMPREPLY=()

    if [ "$COMP_CWORD" -eq 1 ]; then
        _weft_words "$commands help --help --version" "$current"
        return
    fi
    case $command in
        record)
            options='--output --size --memory --force --help'
            case $previous in
                -o | --output | --size) ;;
                *) ! _weft_program || return ;;
            esac
            ;;
        ctl) options='--output --size --wait --help' ;;
        save) options='--output --help' ;;
        info) options='--json --promises --help' ;;
        dump) options='--from --to --help' ;;
        promises) options='--raw --help' ;;
        render) options='--output --format --at --from --to --size --select --search --finding --path --diff
                         --no-counters --no-legend --raw --theme --help' ;;
        view) options='--at --from --to --select --finding --diff --search --raw --theme --tour --help' ;;
        html) options='--output --empty --at --finding --diff --title --raw --help' ;;
        export) options='--to --output --help' ;;
        explain) options='--json --check --check= --only --ignore --accept --all --promise --hang --slow-wake
                          --block --turn --never-yield --spin --self-wakes --leak --serial --serial-saving --herd
                          --help' ;;
        stats) options='--by --sort --top --histogram --raw --json --help' ;;
        diff) options='--json --check --all --help' ;;
        help)
            [ "$COMP_CWORD" -ne 2 ] || _weft_words "$commands" "$current"
            return
            ;;
        *) return ;;
    esac

    case $command:$previous in
        record:-o | record:--output | ctl:-o | ctl:--output | save:-o | save:--output) _weft_files 'weft|trace' "$current" ;;
        record:--size) ;;
        render:-o | render:--output) _weft_files 'svg|png|pdf' "$current" ;;
        render:--format) _weft_words 'svg png pdf' "$current" ;;
        render:--theme) _weft_words 'light dark auto' "$current" ;;
        view:--theme) _weft_words 'light dark' "$current" ;;
        view:--at | render:--at | view:--to) ;;
        html:-o | html:--output) _weft_files 'html' "$current" ;;
        html:--at | html:--title) ;;
        export:--to) _weft_words 'ctf mirage' "$current" ;;
        export:-o | export:--output) _weft_files 'ctf' "$current" ;;
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
