#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints a program's manual page: help2man's, of the help of the program and of all its commands.
# manual.sh PROGRAM VERSION "SEE(1), ALSO(1)"
set -eu

# The help of the program, or of a command under a heading of its own, and of the commands below it. help2man collects
# all lines of usage in one section, so those of commands lose the word; and it joins the lines of a paragraph, so each
# example is one of its own.
all_help() {
  text=$("$program" "$@" --help | sed -E '/^Examples/,$s/^  ([^ ])/\n  $ \1/')
  if [ $# -eq 0 ]; then
    echo "$text"
  else
    printf '\n*%s*\n\n' "$(basename "$program") $*"
    echo "$text" | sed -E "/^(Options|Positionals):/d; s/^Usage: (.*)/\n  \1\n/; s/^Examples:/Examples of $*:/"
  fi
  for command in $(echo "$text" | sed -n '/^Subcommands:/I,/^$/p' | sed -nE 's/^  ([a-z]+) .*/\1/p'); do
    (all_help "$@" "$command")
  done
}

if [ "$1" = --help-of ]; then
  program=$2
  # Groups of options that several commands share are listed with the first.
  all_help | awk 'BEGIN { RS = ""; ORS = "\n\n" } !/^[A-Z][a-z]+:\n/ || !seen[$0]++'
  exit
fi
name=$("$1" --help | sed -n '1s/[.:,].*//p')
# A fixed page for a fixed version: no date.
help2man --no-info --name="$name" --version-string="$(basename "$1") $2" --help-option="--help-of $1" "$0" |
  sed "/^\.TH/s/^.*/.TH $(basename "$1" | tr a-z A-Z) 1 \"\" \"$(basename "$1") $2\" \"User Commands\"/"
printf '.SH SEE ALSO\n%s\n' "$3"
