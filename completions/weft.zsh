#compdef weft
# SPDX-License-Identifier: ISC
# zsh completion for weft. What may come next is known by weft itself: see cli_complete in src/cli/options.h.

local answer ending
local -a known typed plain described shown

typed=("${(@Q)words[2,CURRENT]}")
known=("${(@0)$(weft --complete "${typed[@]}" 2>/dev/null)}")
for answer in "${known[@]}"; do
    case $answer in
        w*) plain+=("${answer#w}") ;;
        d*)
            answer=${answer#d}
            described+=("${answer%%$'\t'*}")
            shown+=("${answer%%$'\t'*}  ${answer#*$'\t'}")
            ;;
    esac
done
(( ! $#plain )) || compadd -- "${plain[@]}"
(( ! $#described )) || compadd -l -d shown -- "${described[@]}"
for answer in "${known[@]}"; do
    case $answer in
        u) _users ;;
        p*)
            # The program begins so many words behind the command.
            ending=$(( ${answer#p} + 2 ))
            shift $ending words
            (( CURRENT -= ending ))
            _normal
            ;;
        f\*) _files ;;
        f/) _files -/ ;;
        f*)
            # --check=FILE and the like do not exist: a file is a word of its own.
            _files -g "*.(${answer#f})(-.)"
            ;;
    esac
done
