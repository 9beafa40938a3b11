#!/bin/sh
set -e
mkdir -p build
cc -std=c11 -Wall -Wextra -Werror -g -fsanitize=address,undefined -fno-sanitize-recover=all -Isrc test/ring_test.c src/ring.c -o build/test
build/test
