#!/bin/sh
# Runs the tests of test/LeasesTest.java against right and wrong versions of the class.
set -e
rm -rf build
mkdir -p build/harness
javac -d build/harness hidden/Harness.java
timeout 150 java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp build/harness hidden.Harness
test "$(cat build/verdict)" = good
