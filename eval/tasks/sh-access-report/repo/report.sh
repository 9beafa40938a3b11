#!/bin/sh
# report.sh FILE: counts the requests of an access log.
awk '{ n++; bytes += $10 } END { print "requests " n; print "bytes " bytes }' "$1"
