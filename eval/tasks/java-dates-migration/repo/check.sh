#!/bin/sh
set -e
rm -rf build
mkdir -p build
javac -Xlint:all -Werror -d build src/roster/*.java test/RosterTest.java
timeout 10 java -cp build RosterTest
