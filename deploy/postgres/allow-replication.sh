#!/bin/sh
# Runs once, when the primary's data directory is made: the standby logs in with the same password.
set -eu
echo "host replication $POSTGRES_USER all scram-sha-256" >> "$PGDATA/pg_hba.conf"
