#!/bin/sh
set -e
mkdir -p build
javac -Xlint:all -Werror -d build src/bank/*.java test/BankTest.java
timeout 15 java -cp build BankTest
