#!/bin/sh
printed=$(sh report.sh sample.log)
expected='requests 3
bytes 150
errors 1
skipped 1

2 150 /a
1 0 /b'
[ "$printed" = "$expected" ] || { echo "$printed"; exit 1; }
