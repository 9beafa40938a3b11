#!/bin/sh
# Builds the sources, compiles each header alone and twice, and links the objects in several orders.
set -e
rm -rf build
mkdir -p build/objects build/headers
compile() { c++ -std=c++17 -Wall -Wextra -Werror -Isrc "$@"; }
find src -name '*.hpp' >build/list
while read -r header; do
  name=${header#src/}
  printf '#include "%s"\n#include "%s"\n' "$name" "$name" >build/headers/one.cpp
  compile -fsyntax-only build/headers/one.cpp
done <build/list
for header in log report sensor series station units; do
  test -f "src/$header.hpp"
done
number=0
find src -name '*.cpp' | sort >build/list
while read -r file; do
  number=$((number + 1))
  compile -c "$file" -o "build/objects/$(printf %03d $number).o"
done <build/list
for file in main elsewhere; do
  compile -c "hidden/$file.cpp" -o "build/$file.o"
done
forward=$(ls build/objects/*.o)
backward=$(ls -r build/objects/*.o)
for order in "$forward build/elsewhere.o build/main.o" "build/main.o build/elsewhere.o $backward" \
  "build/main.o $forward build/elsewhere.o" "build/elsewhere.o $backward build/main.o"; do
  c++ $order -o build/program
  timeout 10 build/program
done
