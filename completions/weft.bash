# SPDX-License-Identifier: ISC
# bash completion for weft

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
    local command=${COMP_WORDS[1]} commands='info dump promises render export' options
    COMPREPLY=()

    if [ "$COMP_CWORD" -eq 1 ]; then
        _weft_words "$commands help --help --version" "$current"
        return
    fi
    case $command in
        info) options='--json --promises --help' ;;
        dump) options='--from --to --help' ;;
        promises) options='--raw --help' ;;
        render) options='--output --format --from --to --size --select --search --no-counters
                         --no-legend --raw --theme --help' ;;
        export) options='--to --output --help' ;;
        help)
            [ "$COMP_CWORD" -ne 2 ] || _weft_words "$commands" "$current"
            return
            ;;
        *) return ;;
    esac

    case $command:$previous in
        render:-o | render:--output) _weft_files 'svg|png|pdf' "$current" ;;
        render:--format) _weft_words 'svg png pdf' "$current" ;;
        render:--theme) _weft_words 'light dark auto' "$current" ;;
        export:--to) _weft_words 'ctf mirage' "$current" ;;
        export:-o | export:--output) _weft_files 'ctf' "$current" ;;
        *:--from | render:--to | dump:--to | *:--size | *:--select | *:--search) ;;
        *)
            case $current in
                -*) _weft_words "$options" "$current" ;;
                *) _weft_files 'ctf|weft|trace' "$current" ;;
            esac
            ;;
    esac
}

complete -F _weft weft
