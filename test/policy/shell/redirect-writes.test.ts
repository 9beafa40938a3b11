import { expect, test } from 'vitest';
import { findRedirectWrites } from '../../../src/policy/shell/redirect-writes.ts';
import { parseShellLine } from '../../../src/policy/shell/parse-line.ts';

test.each<[string, readonly string[]]>([
  ['echo a > a.txt', ['a.txt']],
  ['echo a >> "b c" 2>&1 2> err &> all >| forced', ['b c', 'err', 'all', 'forced']],
  ['(echo a; { echo b > in; }) > out | tee x', ['out', 'in']],
  ['echo $(date > now)', ['now']],
  ['> ~/x; > /abs/y; > ../z', ['~/x', '/abs/y', '../z']],
  ['cat < in <<< text 2> /dev/null', []],
  ['ls > /dev/stderr 2>> /dev/stdout >| /dev/fd/1 < /dev/stdin', []],
  ['ls > /dev/fd/3 2> /dev/fd/../x', ['/dev/fd/3', '/dev/fd/../x']],
  ['echo > "$FILE" > $(echo a) > *.txt > >(cat)', []],
  ['cd sub && echo a > a.txt > /abs', ['sub/a.txt', '/abs']],
  ['cd sub; echo a > a.txt > /abs', ['/abs']],
  ['cd "$X" && echo a > a.txt > ~/b', ['~/b']],
  ['cd a && cd b && echo > c', []],
  ['pushd a && echo > c', []],
])('%s', (line, expected) => {
  expect(findRedirectWrites(parseShellLine(line)).toSorted()).toEqual(expected.toSorted());
});
