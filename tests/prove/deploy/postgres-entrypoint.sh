#!/bin/sh
# What the official image does at its start, as far as deploy/compose.yaml relies on it.
set -eu
if [ "$(id -u)" = 0 ]; then
  chown -R postgres "$PGDATA"
  install -d -o postgres -g postgres /run/postgresql
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  password=$(mktemp)
  printf '%s\n' "$POSTGRES_PASSWORD" > "$password"
  initdb -D "$PGDATA" -U "$POSTGRES_USER" --pwfile="$password" -A trust > /dev/null
  rm "$password"
  echo "host all all all $POSTGRES_HOST_AUTH_METHOD" >> "$PGDATA/pg_hba.conf"
  echo "listen_addresses = '*'" >> "$PGDATA/postgresql.conf"
  pg_ctl -D "$PGDATA" -o "-c listen_addresses=''" -w start > /dev/null
  createdb -U "$POSTGRES_USER" "$POSTGRES_DB"
  for script in /docker-entrypoint-initdb.d/*.sh; do "$script"; done
  pg_ctl -D "$PGDATA" -m fast -w stop > /dev/null
fi
exec "$@"
