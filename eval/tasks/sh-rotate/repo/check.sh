#!/bin/sh
# Makes backups in a directory of its own, and rotates them.
set -e
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/my backups"
for day in 01 02 03 10; do : > "$place/my backups/db-202601$day-120000.tar.gz"; done
: > "$place/my backups/db-20260101-120000.tar.gz.sha256"
: > "$place/my backups/db-old-20250101-120000.tar.gz"
touch "$place/my backups/db-20260101-120000.tar.gz"
printed=$(sh rotate.sh "$place/my backups" db 2)
expected='db-20260101-120000.tar.gz
db-20260102-120000.tar.gz'
[ "$printed" = "$expected" ] || { echo "printed: $printed"; exit 1; }
left=$(cd "$place/my backups" && ls)
expected='db-20260103-120000.tar.gz
db-20260110-120000.tar.gz
db-old-20250101-120000.tar.gz'
[ "$left" = "$expected" ] || { echo "left: $left"; exit 1; }
