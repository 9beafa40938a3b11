#!/bin/sh
set -e
rm -rf build
mkdir -p build
javac -Xlint:all -Werror -d build src/shop/*.java test/ShopTest.java
timeout 10 java -cp build ShopTest
