#!/bin/sh
# Stands in for an agent that writes files: `agent "draw NAME"` draws, `agent -p` reviews.
mkdir -p out
case "$1" in
  draw*) echo '<svg/>' > "out/${1#draw }.svg" ;;
  *) cat > /dev/null; echo 'Nothing found.' > out/walk.md ;;
esac
echo done
