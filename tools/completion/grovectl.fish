# fish completion for grovectl
# SPDX-License-Identifier: Apache-2.0
# Verbs, options and words come from the program itself: nothing here knows one of them.
function __grovectl_verbs
    set -l program (commandline -opc)[1]
    $program help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/\1\t\2/p'
end
function __grovectl_words
    set -l line (commandline -opc)
    set -l choices ($line[1] $line[2] --help 2>/dev/null | grep -oE -e "(^|[^a-z-])$line[-1] [A-Za-z]+(\|[A-Za-z]+)+" | head -n 1 | string split ' ')
    if string match -q -- '-*' $line[-1]; and test (count $choices) -gt 0
        string split '|' -- $choices[-1]
        return
    end
    $line[1] $line[2] --help 2>/dev/null | grep -oE -e '(^|[^a-z-])--?[a-z][a-z-]*' | grep -oE -e '--?[a-z][a-z-]*' | sort -u
end
for program in grovectl kubectl-grove
    complete -c $program -n 'test (count (commandline -opc)) -eq 1' -f -a '(__grovectl_verbs)'
    complete -c $program -n 'test (count (commandline -opc)) -gt 1' -a '(__grovectl_words)'
end
