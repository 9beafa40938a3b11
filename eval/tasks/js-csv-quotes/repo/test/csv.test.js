import { test } from 'node:test';
import assert from 'node:assert/strict';
import { parse, stringify } from '../src/index.js';

test('parses simple rows', () => {
  assert.deepEqual(parse('a,b\nc,d\n'), [['a', 'b'], ['c', 'd']]);
});

test('keeps line breaks and doubled quotes in quoted fields', () => {
  assert.deepEqual(parse('"say ""hi""","two\nlines"\n'), [['say "hi"', 'two\nlines']]);
});

test('writes quotes where they are needed', () => {
  assert.equal(stringify([['a"b', 'c']]), '"a""b",c\n');
});
