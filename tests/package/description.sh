# SPDX-License-Identifier: Apache-2.0
# Manual pages and completions: each installed program has them, they know every command and option that --help lists,
# and the programs that read them find no fault.
. "$(dirname "$0")/common.sh"

# The options of a help text: what begins with a hyphen in the left column.
options_of() { sed -nE 's/^ +(-[^ ]+).*/\1/p' | tr ',' '\n' | sort -u; }
commands_of() { sed -n '/^Subcommands:/I,/^$/p' | sed -nE 's/^  ([a-z]+) .*/\1/p'; }
# Whether a text has the word, and not only as a part of another.
has() { grep -E -- "(^|[^a-zA-Z-])$1([^a-zA-Z-]|\$)" >/dev/null; }  # reads all: a closed pipe would be a failure

# What bash would offer for a command line, its last word being completed.
offered() {
  bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "_${1//-/_}"; printf "%s\n" "${COMPREPLY[@]}"' \
    "$PREFIX/share/bash-completion/completions/$1" "$@"
}

# check_command [COMMAND...]: all that its help lists is known, and so are the commands below it.
check_command() {
  local option word pattern words
  for option in $("$path" "$@" --help | options_of); do
    has "$option" <plain.man || fail "$man: no $option"
    has "$option" <"$zsh" || fail "$zsh: no $option"
    case $option in
      --*) pattern="-l ${option#--}" ;;
      *) pattern="-s ${option#-}" ;;
    esac
    grep -qE -- "$pattern( |\$)" "$fish" || fail "$fish: no $option"
    offered "$program" "$@" "$option" | has "$option" || fail "bash does not offer $program $* $option"
  done
  words=$("$path" "$@" --help | commands_of)
  [ "$program $*" != "raylift " ] || [ -n "$words" ] || fail "no commands found in raylift --help"
  for word in $words; do
    for file in plain.man "$zsh" "$fish"; do has "$word" <"$file" || fail "$file: no $word"; done
    offered "$program" "$@" "$word" | grep -x "$word" >/dev/null || fail "bash does not offer $program $* $word"
    check_command "$@" "$word"
  done
}

for path in "$PREFIX"/bin/*; do
  program=$(basename "$path")
  man=$PREFIX/share/man/man1/$program.1
  zsh=$PREFIX/share/zsh/site-functions/_$program
  [ -f "$zsh" ] || zsh=$PREFIX/share/zsh/vendor-completions/_$program
  fish=$PREFIX/share/fish/vendor_completions.d/$program.fish
  sed 's/\\-/-/g; s/\\f[BIR]/ /g' "$man" >plain.man
  check_command

  if command -v mandoc >/dev/null; then
    faults=$(mandoc -T lint -W warning "$man" | grep -v 'missing date' || true)
    [ -z "$faults" ] || fail "$faults"
  fi
  bash -n "$PREFIX/share/bash-completion/completions/$program" || fail "bash does not read it"
  ! command -v zsh >/dev/null || zsh -n "$zsh" || fail "zsh does not read it"
  if command -v fish >/dev/null; then
    export HOME=$WORK
    fish -n "$fish" || fail "fish does not read it"
    fish -c "source $fish; complete -C '$program --'" | has "--help" || fail "fish offers no $program --help"
  fi
done
[ -f "$PREFIX/share/man/man1/raylift-import.1" ] || fail "raylift-import has no manual page"

# A value that is no file, and one that is.
touch a_file
offered raylift upload --budget "" | grep a_file >/dev/null && fail "bash offers a file for --budget"
offered raylift upload "" | grep a_file >/dev/null || fail "bash offers no file for raylift upload"
offered raylift upload --policy c | grep -x chroma >/dev/null || fail "bash does not offer --policy chroma"
offered raylift-make-detector --shape c | grep -x cylinder >/dev/null || fail "bash does not offer --shape cylinder"
