import { expect, test } from 'vitest';
import { fileKind } from '../../../src/base/code/file-kind.ts';

test.each([
  ['src/a.ts', 'source'],
  ['lib/latest.js', 'source'],
  ['src/contest.py', 'source'],
  ['test/a.ts', 'test'],
  ['src/a.test.ts', 'test'],
  ['pkg/a_test.go', 'test'],
  ['app/test_views.py', 'test'],
  ['src/main/FooTest.java', 'test'],
  ['dist/a.js', 'generated'],
  ['package-lock.json', 'generated'],
  ['a.min.js', 'generated'],
  ['api/x.pb.go', 'generated'],
  ['README.md', 'docs'],
  ['docs/config.js', 'docs'],
  ['examples/a.ts', 'example'],
  ['sandbox/client.js', 'example'],
  ['src/sandbox/confine.ts', 'source'],
  ['src/a.d.ts', 'types'],
  ['config.yaml', 'data'],
  ['a.css', 'style'],
])('%s is %s', (path, kind) => {
  expect(fileKind(path)).toBe(kind);
});
