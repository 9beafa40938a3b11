import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MusterError } from '../../../../src/base/errors.ts';
import { printJsonTree, parseJson } from '../../../../src/tools/utility/json/json-tree.ts';
import { makeWorkspace, tool } from '../../workspace.ts';

const small = { resultBytes: 400, readBytes: 400, spillBytes: 400, toolMs: 1000 };

describe('JsonParse', () => {
  test.each([
    ['{"b":1,"a":[true,null]}', '', '{\n  "b": 1,\n  "a": [\n    true,\n    null\n  ]\n}'],
    ['{}', '', '{}'],
    [' [ ] ', '', '[]'],
    ['\uFEFF"x"', '', '"x"'],
    ['{"id":12345678901234567890,"x":1.10,"y":"\\u00e9"}', 'id', '12345678901234567890'],
    ['{"x":1.10}', 'x', '1.10'],
    ['{"y":"\\u00e9"}', '$.y', '"\\u00e9"'],
    ['{"a":{"b":[1,{"c":2}]}}', 'a.b[1].c', '2'],
    ['{"a":{"b":[1,{"c":2}]}}', 'a.b[-1]["c"]', '2'],
    ['[[1],[2]]', '[1][0]', '2'],
    ['{"a.b":{"":3}}', '["a.b"][""]', '3'],
    ['{"a":1,"a":2}', 'a', '2'],
    ['{"__proto__":{"x":1}}', '__proto__.x', '1'],
    ['{"a":1}', '$', '{\n  "a": 1\n}'],
  ])('%j at %j is %j', async (text, path, expected) => {
    expect(await makeWorkspace().call('JsonParse', { text, path })).toEqual({ text: expected });
  });

  test.each([
    ['{"a":1,}', 'line 1, column 8: a name in double quotes is expected, and there is "}"'],
    ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3: `,` or `}` is expected, and there is'],
    ['[1 2]', 'line 1, column 4: `,` or `]` is expected, and there is "2]"'],
    ["{'a': 1}", 'line 1, column 2: a name in double quotes is expected'],
    ['{"a" 1}', 'line 1, column 6: `:` is expected'],
    ['01', 'line 1, column 2: the end is expected, and there is "1"'],
    ['[1, NaN]', 'line 1, column 5: a value is expected, and there is "NaN]"'],
    ['{"a": "b\nc"}', 'line 1, column 9: the end of a string, or a valid escape, is expected'],
    ['"\\x"', 'line 1, column 2: the end of a string, or a valid escape, is expected'],
    ['{"a": "b', 'line 1, column 9: the end of a string, or a valid escape, is expected, and the'],
    ['  ', 'line 1, column 3: a value is expected, and the text ends'],
  ])('%j is not JSON: %s', async (text, says) => {
    const output = await makeWorkspace().call('JsonParse', { text });
    expect(output).toEqual({
      text: expect.stringContaining(`text: is not JSON: ${says}`),
      error: 'INVALID_PARAM',
    });
  });

  test.each([
    ['a.c', 'NOT_FOUND', 'path: a is an object without "c": it has "b"'],
    ['a.b.c', 'NOT_FOUND', 'path: a.b is a list, which has no names'],
    ['a.b[7]', 'NOT_FOUND', 'path: a.b is a list of 1 item: there is no [7]'],
    ['a.b[0][0]', 'NOT_FOUND', 'path: a.b[0] is a number, which has no items'],
    ['x', 'NOT_FOUND', 'path: the root is an object without "x": it has "a"'],
    ['constructor', 'NOT_FOUND', 'path: the root is an object without "constructor": it has "a"'],
    ['a..b', 'INVALID_PARAM', 'path: is not understood at character 2: "a..b"'],
    ['a["\\q"]', 'INVALID_PARAM', 'path: is not understood at character 2'],
  ])('path %j: %s %s', async (path, error, says) => {
    const output = await makeWorkspace().call('JsonParse', { text: '{"a":{"b":[1]}}', path });
    expect(output).toEqual({ text: expect.stringContaining(says), error });
  });

  test('a large value is cut with a note on how to see a part', async () => {
    const text = JSON.stringify(Array.from({ length: 200 }, (_, index) => `item ${index}`));
    const output = await makeWorkspace().call('JsonParse', { text }, { caps: small });
    expect(output.text).toMatch(
      /\n\[cut: \d+ of 202 lines are left out, beyond 400 bytes; name a part with path\]$/,
    );
    expect(output.text.length).toBeLessThanOrEqual(400);
  });

  test('text that is too long or nested too deeply is refused with the limit', async () => {
    const deep = '['.repeat(100_000);
    const long = `"${'x'.repeat(1_000_000)}"`;
    const at = makeWorkspace();
    expect(await at.call('JsonParse', { text: deep })).toEqual({
      text: 'text: is nested deeper than 500 levels',
      error: 'LIMIT_EXCEEDED',
    });
    expect(await at.call('JsonParse', { text: long })).toMatchObject({ error: 'LIMIT_EXCEEDED' });
    expect(parseJson(long)).toEqual({ kind: 'scalar', raw: long });
  });

  test('accepts the same texts as JSON.parse', () => {
    const mutated = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', ']', '\\', '\n', '0', '-'))
      .map(([json, at, put]) => {
        const cut = at % (json.length + 1);
        return json.slice(0, cut) + put + json.slice(cut + 1);
      });
    fc.assert(
      fc.property(fc.oneof(fc.json(), mutated, fc.string()), (text) => {
        if (text.startsWith('\uFEFF')) return;
        expect(outcome(() => printJsonTree(parseJson(text), { ...whole, indent: 0 }))).toEqual(
          outcome(() => JSON.parse(text)) === 'refused' ? 'refused' : expect.any(Object),
        );
      }),
      { numRuns: 500 },
    );
  });

  test('prints the same value in the layout of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(4), (value, indent) => {
        const json = JSON.stringify(value);
        const text = JSON.stringify(value, null, indent);
        const lines = text.split('\n').length;
        expect(printJsonTree(parseJson(json), { ...whole, indent })).toEqual({
          text,
          isComplete: true,
          lines,
        });
        const part = printJsonTree(parseJson(json), { ...whole, indent, max: text.length - 1 });
        expect(part).toEqual({ text: expect.any(String), isComplete: false, lines });
        expect(text.startsWith(part.text)).toBe(true);
      }),
    );
  });
});

const whole = { sorted: false, max: Infinity } as const;

test('indentation of deep values stays within the limit of a result', async () => {
  const text = `${'['.repeat(499)}${'1,'.repeat(400_000)}1${']'.repeat(499)}`;
  const at = makeWorkspace();
  const parsed = await at.call('JsonParse', { text }, { caps: small });
  expect(parsed.text).toMatch(/\n\[cut: 400\d+ of 400999 lines are left out, beyond 400 bytes/);
  expect(await at.call('JsonStringify', { value: text, indent: 8 })).toMatchObject({
    error: 'LIMIT_EXCEEDED',
    text: expect.stringContaining('more than the'),
  });
});

function outcome(read: () => unknown): 'refused' | { readonly read: unknown } {
  try {
    return { read: read() };
  } catch (thrown) {
    if (thrown instanceof MusterError || thrown instanceof SyntaxError) return 'refused';
    throw thrown;
  }
}

describe('JsonStringify', () => {
  test.each([
    [{ value: '{"b": 1, "a": [1, 2]}' }, '{"b":1,"a":[1,2]}'],
    [{ value: '{"b": 1, "a": 2}', sort_keys: true, indent: 1 }, '{\n "a": 2,\n "b": 1\n}'],
    [{ value: 'say "hi"\n' }, String.raw`"say \"hi\"\n"`],
    [{ value: '"quoted"' }, '"quoted"'],
    [{ value: '' }, '""'],
    [{ value: { a: [1, null] } }, '{"a":[1,null]}'],
    [{ data: [1, '2'] }, '[1,"2"]'],
    [{ value: null }, 'null'],
    [{ value: true, space: '2' }, 'true'],
    [{ value: '12345678901234567890' }, '12345678901234567890'],
  ])('%j is %j', async (input, text) => {
    expect(await makeWorkspace().call('JsonStringify', input)).toEqual({ text });
  });

  test('reports a missing value and one that is too large', async () => {
    const at = makeWorkspace();
    expect(await at.call('JsonStringify', {})).toMatchObject({ error: 'INVALID_PARAM' });
    expect(tool('JsonStringify').parse('x')).toMatchObject({ ok: false });
    expect(
      await at.call('JsonStringify', { value: 'x'.repeat(500) }, { caps: small }),
    ).toMatchObject({
      error: 'LIMIT_EXCEEDED',
      text: expect.stringContaining('more than the 400 bytes'),
    });
  });
});
