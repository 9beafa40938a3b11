#!/bin/sh
# The tests must pass with src/, and fail with each of the wrong versions in mutants/.
set -e
rm -rf build
mkdir -p build/right
javac -Xlint:all -Werror -d build/right src/leases/*.java test/LeasesTest.java
timeout 20 java -cp build/right LeasesTest
for mutant in mutants/*.java; do
  mkdir -p build/wrong/leases build/classes
  cp src/leases/*.java build/wrong/leases
  cp "$mutant" build/wrong/leases/Leases.java
  javac -d build/classes build/wrong/leases/*.java test/LeasesTest.java
  if timeout 20 java -cp build/classes LeasesTest >build/out 2>&1; then
    echo "the tests pass with $mutant" >&2
    exit 1
  fi
done
