# bash completion for grovectl
# SPDX-License-Identifier: Apache-2.0
# Verbs, options and words come from the program itself: nothing here knows one of them.
_grovectl() {
    local program=${COMP_WORDS[0]} cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]}
    local words
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="help $("$program" help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p')"
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
        return
    fi
    # the words that an option takes, as in `-o text|json`
    words=$("$program" "$verb" --help 2>/dev/null | grep -oE -e "(^|[^a-z-])$prev [A-Za-z]+(\|[A-Za-z]+)+" | head -n 1)
    words=${words##* }
    case $prev/$cur in
    -*/*)
        if [ -n "$words" ]; then
            mapfile -t COMPREPLY < <(compgen -W "${words//|/ }" -- "$cur")
            return
        fi
        ;;
    esac
    case $cur in
    -*)
        words=$("$program" "$verb" --help 2>/dev/null | grep -oE -e '(^|[^a-z-])--?[a-z][a-z-]*' | grep -oE -e '--?[a-z][a-z-]*' | sort -u)
        mapfile -t COMPREPLY < <(compgen -W "$words --help" -- "$cur")
        ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    esac
}
complete -o filenames -F _grovectl grovectl kubectl-grove
