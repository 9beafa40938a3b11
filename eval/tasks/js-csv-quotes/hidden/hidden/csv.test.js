import { test } from 'node:test';
import assert from 'node:assert/strict';
import { parse, stringify } from '../src/index.js';

test('basic rows, with and without a final line end', () => {
  assert.deepEqual(parse('a,b\nc,d\n'), [['a', 'b'], ['c', 'd']]);
  assert.deepEqual(parse('a,b\nc,d'), [['a', 'b'], ['c', 'd']]);
  assert.deepEqual(parse(''), []);
});

test('empty fields stay', () => {
  assert.deepEqual(parse('a,\n,b\n,,\n'), [['a', ''], ['', 'b'], ['', '', '']]);
  assert.deepEqual(parse('a,'), [['a', '']]);
  assert.deepEqual(parse('a\n\nb\n'), [['a'], [''], ['b']]);
  assert.deepEqual(parse('"",x\n'), [['', 'x']]);
  assert.deepEqual(parse('""'), [['']]);
});

test('CRLF ends records, but is data inside quotes', () => {
  assert.deepEqual(parse('a,b\r\nc,d\r\n'), [['a', 'b'], ['c', 'd']]);
  assert.deepEqual(parse('"x\r\ny",z\r\n'), [['x\r\ny', 'z']]);
  assert.deepEqual(parse('"a"\r\n"b"'), [['a'], ['b']]);
});

test('quotes', () => {
  assert.deepEqual(parse('"say ""hi""","1,2","two\nlines"\n'), [['say "hi"', '1,2', 'two\nlines']]);
  assert.deepEqual(parse('""""\n'), [['"']]);
});

test('an open quote names the line on which its field begins', () => {
  assert.throws(() => parse('a,b\n"x\ny",c\nd,"open\nmore\n'), (error) => {
    assert.ok(error instanceof Error);
    assert.match(error.message, /\b4\b/);
    return true;
  });
  assert.throws(() => parse('"'), /\b1\b/);
});

test('writes only the quotes that are needed', () => {
  assert.equal(stringify([['a', 'b c'], ['x,y', 'q"r'], ['l\nm', 'n\ro']]), 'a,b c\n"x,y","q""r"\n"l\nm","n\ro"\n');
  assert.equal(stringify([]), '');
});

test('round trip of generated rows', () => {
  const parts = ['a', '', ',', '"', '\n', '\r\n', '\r', ' ', 'ß', '""', '😀'];
  let seed = 7;
  const next = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  for (let round = 0; round < 500; round += 1) {
    const rows = Array.from({ length: 1 + next(4) }, () =>
      Array.from({ length: 1 + next(4) }, () =>
        Array.from({ length: next(4) }, () => parts[next(parts.length)]).join('')));
    assert.deepEqual(parse(stringify(rows)), rows, JSON.stringify(rows));
  }
});
