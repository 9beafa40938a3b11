#!/bin/sh
set -e
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/Some Dir/Inner"
echo 1 > "$place/Some Dir/Inner/A File.TXT"
echo 2 > "$place/README"
echo 3 > "$place/Readme"
code=0
sh lower.sh "$place" 2> "$place.errors" || code=$?
rm -f "$place.errors"
[ "$code" = 1 ] || { echo "exit code $code"; exit 1; }
[ "$(cat "$place/some dir/inner/a file.txt")" = 1 ]
[ "$(cat "$place/README")" = 2 ]
[ "$(cat "$place/Readme")" = 3 ]
