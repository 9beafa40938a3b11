#!/bin/sh
# The tests must pass with pages.py, and fail with each of the wrong versions in mutants/.
set -e
export PYTHONDONTWRITEBYTECODE=1
python3 -m unittest -q tests.test_pages
for mutant in mutants/*.py; do
  directory=$(mktemp -d)
  cp -R tests "$directory"
  cp "$mutant" "$directory/pages.py"
  if (cd "$directory" && timeout 20 python3 -m unittest -q tests.test_pages) >"$directory/out" 2>&1; then
    echo "the tests pass with $mutant" >&2
    exit 1
  fi
  rm -r "$directory"
done
