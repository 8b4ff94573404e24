#!/bin/sh
# Stands before the other claude on PATH: when the findings are to be summarised, it kills the run that asks, once.
case "$*" in *Summarise*)
  rm "$0"
  run=$PPID
  until ps -o args= -p "$run" | grep -q 'mlld.cjs run'; do run=$(ps -o ppid= -p "$run" | tr -d ' '); done
  kill -9 "$run"
esac
PATH=${PATH#*:} exec claude "$@"
