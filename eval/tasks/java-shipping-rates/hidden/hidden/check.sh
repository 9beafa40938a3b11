#!/bin/sh
# The functions must no longer name a kind: only the classes in kinds/ may.
set -e
rm -rf build
mkdir -p build
for file in $(find src -name '*.java' ! -path 'src/shipping/kinds/*' ! -name Kind.java); do
  if grep -nE '"(letter|parcel|express|freight)' "$file"; then
    echo "$file names a kind" >&2
    exit 1
  fi
done
javac -Xlint:all -Werror -d build $(find src hidden -name '*.java')
timeout 30 java -cp build hidden.ShippingHidden
