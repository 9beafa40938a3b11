#!/bin/sh
set -e
mkdir -p build
cc -std=c11 -Wall -Wextra -Werror -g -fsanitize=address,undefined -fno-sanitize-recover=all -Isrc test/map_test.c src/map.c -o build/test
ASAN_OPTIONS=detect_leaks=0 timeout 10 build/test
