# SPDX-License-Identifier: ISC
# fish completion for weft. What may come next is known by weft itself: see cli_complete in src/cli/options.h.

function __weft_complete
    set -l typed (commandline -opc) (commandline -ct)
    set -e typed[1]
    for answer in (weft --complete $typed 2>/dev/null | string split0)
        set -l kind (string sub -l 1 -- $answer)
        set -l rest (string sub -s 2 -- $answer)
        switch $kind
            case w d
                printf '%s\n' $rest
            case u
                __fish_complete_users
            case p
                set -l at (math $rest + 2)
                set -l line (commandline -ct)
                test $at -ge (count $typed); or set line (string escape -- $typed[$at..-2]) $line
                complete -C "$line"
            case f
                __weft_files $rest (commandline -ct)
        end
    end
end

# Files that end so (a|b, * or /), and folders to go on in.
function __weft_files
    set -l endings (string split '|' -- $argv[1])
    for file in (string unescape -- $argv[2])*
        if test -d $file
            printf '%s/\n' $file
        else if test $argv[1] = '*'
            printf '%s\n' $file
        else
            for ending in $endings
                if string match -q -- "*.$ending" $file
                    printf '%s\n' $file
                end
            end
        end
    end
end

complete -c weft -f -a '(__weft_complete)'
