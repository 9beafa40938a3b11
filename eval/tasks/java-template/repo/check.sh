#!/bin/sh
set -e
mkdir -p build
javac -Xlint:all -Werror -d build src/*.java test/TemplateTest.java
timeout 15 java -cp build TemplateTest
