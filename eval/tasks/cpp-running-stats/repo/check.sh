#!/bin/sh
set -e
mkdir -p build
c++ -std=c++17 -Wall -Wextra -Werror -g -fsanitize=address,undefined -fno-sanitize-recover=all -Isrc test/test.cpp -o build/test
ASAN_OPTIONS=detect_leaks=0 timeout 10 build/test
