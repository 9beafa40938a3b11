#!/bin/sh
set -e
mkdir -p build
c++ -std=c++17 -Wall -Wextra -Werror -g -pthread -Isrc test/test.cpp -o build/test
timeout 10 build/test
