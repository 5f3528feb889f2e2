#!/bin/sh
# Copies the primary once, then follows it. The name is what synchronous_standby_names waits for.
set -eu
from="host=postgres port=5432 user=starboard dbname=replication application_name=standby"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  pg_basebackup -d "$from" -D "$PGDATA" -R -X stream -c fast
  chmod 0700 "$PGDATA"
  echo "primary_conninfo = '$from password=$PGPASSWORD'" >> "$PGDATA/postgresql.auto.conf"
fi
exec "$@"
