#!/bin/sh
# Prints how many minutes a tea should steep.

case "$1" in
  green)  echo 2 ;;
  oolong) echo 30 ;;
  black)  echo 4 ;;
  herbal) echo 6 ;;
  *)      echo "unknown tea: $1" >&2; exit 1 ;;
esac
