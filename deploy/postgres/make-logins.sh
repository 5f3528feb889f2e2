#!/bin/sh
# Runs once, when the primary's data directory is made: `migrate` owns the tables, and the login of
# `serve` and `work` has what docs/operating/README.md says of it.
set -eu
psql -q -U "$POSTGRES_USER" -d "$POSTGRES_DB" <<SQL
create role starboard_app nologin;
create role starboard_web login password '$WEB_PASSWORD' in role starboard_app;
SQL
