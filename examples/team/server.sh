#!/bin/sh
# Starts a PostgreSQL server for trials in a temporary folder, without containers, and stops it:
#   server.sh start [FOLDER]    prints the line that names the store to mlld, also where the server runs already
#   server.sh stop [FOLDER]
# It listens on this machine only, trusts everybody there, and keeps its data in FOLDER until that is removed.
set -eu
folder=${2:-${TMPDIR:-/tmp}/mlld-team}
port=${TEAM_PORT:-5433}
# Debian and its relatives keep the programs of the server out of the path.
for found in /usr/lib/postgresql/*/bin /usr/local/opt/postgresql*/bin; do
  if [ -d "$found" ]; then PATH=$PATH:$found; fi
done

case ${1:-} in
start)
  if [ "$(id -u)" = 0 ]; then
    echo 'PostgreSQL refuses to run as root: start this as another user' >&2
    exit 1
  fi
  if [ ! -d "$folder/data" ]; then
    mkdir -p "$folder"
    initdb -D "$folder/data" --username=mlld --auth=trust --encoding=UTF8 >"$folder/initdb.log"
  fi
  if pg_ctl -D "$folder/data" status >/dev/null; then
    port=$(sed -n 4p "$folder/data/postmaster.pid") # it was started with the port of another terminal, perhaps
  else
    pg_ctl -D "$folder/data" -o "-p $port -k '$folder' -c listen_addresses=127.0.0.1" -l "$folder/server.log" -w start >&2
  fi
  psql -h 127.0.0.1 -p "$port" -U mlld -d postgres -tAc "select 1 from pg_database where datname = 'mlld'" | grep -q 1 ||
    createdb -h 127.0.0.1 -p "$port" -U mlld mlld
  echo "export MLLD_STORE='postgres://mlld@127.0.0.1:$port/mlld?project=trial'"
  ;;
stop)
  pg_ctl -D "$folder/data" -m fast -w stop >&2
  ;;
*)
  echo 'usage: server.sh start|stop [FOLDER]' >&2
  exit 2
  ;;
esac
