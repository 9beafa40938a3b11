#!/bin/sh
set -e
rm -rf build
mkdir -p build
javac -Xlint:all -Werror -d build $(find src -name '*.java') test/KindsTest.java
timeout 10 java -cp build KindsTest
