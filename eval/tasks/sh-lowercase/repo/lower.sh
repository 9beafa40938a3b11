#!/bin/sh
# lower.sh DIRECTORY: renames everything in it to lower case.
for path in $(find $1); do
  mv $path $(echo $path | tr A-Z a-z)
done
