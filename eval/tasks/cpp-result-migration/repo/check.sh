#!/bin/sh
set -e
rm -rf build
mkdir -p build
for file in src/*.cpp test/test.cpp; do
  c++ -std=c++17 -Wall -Wextra -Werror -Isrc -c "$file" -o "build/$(basename "$file" .cpp).o"
done
c++ $(ls build/*.o | grep -v build/test.o) -o build/flights
c++ $(ls build/*.o | grep -v build/main.o) -o build/test
timeout 10 build/test
