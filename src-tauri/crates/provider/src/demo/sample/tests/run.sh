#!/bin/sh
# Compares tea.sh with the table in the README.

cd "$(dirname "$0")/.." || exit 1
failed=0

check() {
  got=$(sh tea.sh "$1")
  if [ "$got" = "$2" ]; then
    echo "ok      $1 steeps $2 minutes"
  else
    echo "FAILED  $1: expected $2, got $got"
    failed=1
  fi
}

check green 2
check oolong 3
check black 4
check herbal 6
exit $failed
