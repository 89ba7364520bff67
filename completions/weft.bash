# SPDX-License-Identifier: ISC
# bash completion for weft. What may come next is known by weft itself: see cli_complete in src/cli/options.h.

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

# A program, then its arguments as they complete theirs. $1: where it stands.
_weft_program()
{
    local list
    if declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif [ "$1" -eq "$COMP_CWORD" ] && [[ $current != */* ]]; then
        mapfile -t list < <(compgen -c)
        _weft_words "$current" "${list[@]}"
    else
        _weft_files '*' "$current"
    fi
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

_weft()
{
    local IFS=$' \t\n' i plain answer words=() known=() list=() at=()
    local current=${COMP_WORDS[COMP_CWORD]} before=
    COMPREPLY=()

    # Bash splits words at colons and equal signs. $before: of the last word, what is in front of $current.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        case ${words[*]: -1} in
            xen) [ "${COMP_WORDS[i]}" = : ] && words[-1]=xen: && continue ;;
            xen:) words[-1]+=${COMP_WORDS[i]} && continue ;;
            --*=) words[-1]+=${COMP_WORDS[i]} && continue ;;
            --*) [ "${COMP_WORDS[i]}" = = ] && words[-1]+='=' && continue ;;
        esac
        _weft_plain "${COMP_WORDS[i]}"
        words+=("$plain")
        at+=("$i")
    done
    case ${words[-1]} in
        xen:*) [ "${COMP_WORDS[COMP_CWORD]}" = "${words[-1]}" ] || before=xen: ;;
        --*=*) [ "${COMP_WORDS[COMP_CWORD]}" = "${words[-1]}" ] || before=${words[-1]%%=*}= ;;
    esac
    case $current in : | =) current= ;; esac

    mapfile -d '' -t known < <(weft --complete "${words[@]}" 2>/dev/null)
    for answer in "${known[@]}"; do
        case $answer in
            w"$before"*) list+=("${answer#"w$before"}") ;;
            d"$before"*)
                answer=${answer#"d$before"}
                list+=("${answer%%$'\t'*}")
                ;;
            u) mapfile -t -O "${#list[@]}" list < <(compgen -u) ;;
            p*) _weft_program "${at[${answer#p} + 1]}" ;;
        esac
    done
    # Files first: they replace what is there.
    for answer in "${known[@]}"; do
        case $answer in f*) _weft_files "${answer#f}" "$current" ;; esac
    done
    _weft_words "$current" "${list[@]}"
}

complete -F _weft weft
