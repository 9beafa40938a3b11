#!/bin/sh
# Builds the program and the hidden tests, and runs both.
set -e
rm -rf build
mkdir -p build/run
if grep -rn 'last_error' src; then
  exit 1
fi
for file in src/*.cpp hidden/hidden.cpp; do
  c++ -std=c++17 -Wall -Wextra -Werror -Isrc -c "$file" -o "build/$(basename "$file" .cpp).o"
done
c++ $(ls build/*.o | grep -v build/hidden.o) -o build/flights
c++ $(ls build/*.o | grep -v build/main.o) -o build/hidden
timeout 20 build/hidden
cd build/run
printf 'LX1 ZRH LHR 08:00 08:55 3\n' >flights.txt
test "$(../flights show LX1)" = 'LX1 ZRH LHR 55 min, 3 seats'
printf 'LX1 ZRH LHR 08:00 08:55 3\nLX2 ZRH\n' >flights.txt
code=0
../flights show LX1 >out 2>err || code=$?
test "$code" = 1
test "$(cat err)" = 'flights: flights.txt: line 2: expected 6 fields, found 2'
test ! -s out
