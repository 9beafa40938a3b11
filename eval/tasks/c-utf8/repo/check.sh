#!/bin/sh
set -e
mkdir -p build
cc -std=c11 -Wall -Wextra -Werror -g -fsanitize=address,undefined -fno-sanitize-recover=all -Isrc test/utf8_test.c src/utf8.c -o build/test
build/test
