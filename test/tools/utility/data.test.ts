import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MusterError } from '../../../src/base/errors.ts';
import { printJsonTree } from '../../../src/tools/utility/json/json-print.ts';
import { parseJson } from '../../../src/tools/utility/json/json-tree.ts';
import { makeWorkspace, tool } from '../workspace.ts';

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

  test('a large value is cut, and says how to see a part', async () => {
    const text = JSON.stringify(Array.from({ length: 200 }, (_, index) => `item ${index}`));
    const output = await makeWorkspace().call('JsonParse', { text }, { caps: small });
    expect(output.text).toMatch(
      /\n\[cut: \d+ of 202 lines are left out, beyond 400 bytes; name a part with path\]$/,
    );
    expect(output.text.length).toBeLessThanOrEqual(400);
  });

  test('what is nested too deep, or too long, is refused by its limit', async () => {
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

  test('it takes what JSON.parse takes, and nothing else', () => {
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

  test('what it lays out is the same value, as JSON.stringify lays it out', () => {
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

test('blanks before what lies deep do not come to more than a result may hold', async () => {
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

  test('it says what is missing, and what is too large', async () => {
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

describe('Base64', () => {
  test.each([
    [{ text: 'hello' }, 'aGVsbG8='],
    [{ text: 'é?>~' }, 'w6k/Pn4='],
    [{ text: 'é?>~', url: true }, 'w6k_Pn4'],
    [{ text: '' }, '[nothing: the text is empty]'],
  ])('Base64Encode %j is %j', async (input, text) => {
    expect(await makeWorkspace().call('Base64Encode', input)).toEqual({ text });
  });

  test.each([
    ['aGVsbG8=', 'hello'],
    ['aGVsbG8', 'hello'],
    ['aGVs\nbG8=\n', 'hello'],
    ['w6k_Pn4', 'é?>~'],
    ['w6k/Pn4=', 'é?>~'],
    ['data:text/plain;charset=utf-8;base64,aGk=', 'hi'],
    ['', '[nothing: 0 bytes]'],
    ['iVBORw0KGgoAAAAN', '[not text: PNG image, 12 bytes]\n89 50 4e 47 0d 0a 1a 0a 00 00 00 0d'],
    ['/w==', '[not text: not UTF-8, 1 byte]\nff'],
  ])('Base64Decode %j is %j', async (text, expected) => {
    expect(await makeWorkspace().call('Base64Decode', { text })).toEqual({ text: expected });
  });

  test.each([
    ['aGV*bG8=', 'text: is not Base64: "*" at digit 4'],
    ['aGVsbG8=x', 'text: is not Base64: "=" at digit 8'],
    ['aGVsb', 'text: is not Base64: 5 digits and 0 of padding; some are missing'],
    ['aGVs====', 'text: is not Base64: 4 digits and 4 of padding; some are missing'],
  ])('Base64Decode refuses %j', async (text, says) => {
    expect(await makeWorkspace().call('Base64Decode', { text })).toEqual({
      text: says,
      error: 'INVALID_PARAM',
    });
  });

  test('both say their limits', async () => {
    const at = makeWorkspace();
    expect(await at.call('Base64Encode', { text: 'x'.repeat(301) }, { caps: small })).toEqual({
      text: 'text: has 301 bytes, more than 300; use Bash',
      error: 'LIMIT_EXCEEDED',
    });
    const long = Buffer.from('é'.repeat(300)).toString('base64');
    expect(await at.call('Base64Decode', { text: long }, { caps: small })).toEqual({
      text: `${'é'.repeat(150)}\n[cut at 300 of 600 bytes]`,
    });
    expect(await at.call('Base64Decode', { text: 'x'.repeat(1_000_001) })).toMatchObject({
      error: 'LIMIT_EXCEEDED',
    });
  });

  test('each undoes the other', async () => {
    const at = makeWorkspace();
    const plain = fc.string({ unit: fc.constantFrom('a', 'Z', '9', ' ', '\n', 'é', '漢', '😀') });
    await fc.assert(
      fc.asyncProperty(plain, fc.boolean(), async (text, url) => {
        fc.pre(text !== '');
        const encoded = await at.call('Base64Encode', { text, url });
        expect(await at.call('Base64Decode', { text: encoded.text })).toEqual({ text });
      }),
      { numRuns: 100 },
    );
  });
});

describe('CurrentTime', () => {
  const now = Date.UTC(2026, 10, 22, 10, 26, 45, 678);
  const at = (time: number) => ({ clock: { now: () => time, monotonic: () => 0 } });

  test.each([
    ['UTC', '2026-11-22T10:26:45+00:00, Sunday, UTC, Unix time 1795343205'],
    ['Asia/Kolkata', '2026-11-22T15:56:45+05:30, Sunday, Asia/Calcutta, Unix time 1795343205'],
    ['America/New_York', '2026-11-22T05:26:45-05:00, Sunday, America/New_York, Unix time'],
    ['Pacific/Kiritimati', '2026-11-23T00:26:45+14:00, Monday, Pacific/Kiritimati, Unix time'],
    ['europe/berlin', '2026-11-22T11:26:45+01:00, Sunday, Europe/Berlin, Unix time 1795343205'],
    ['+02:00', '2026-11-22T12:26:45+02:00, Sunday, +02:00, Unix time 1795343205'],
  ])('in %s', async (timezone, text) => {
    const output = await makeWorkspace().call('CurrentTime', { timezone }, at(now));
    expect(output).toEqual({ text: expect.stringContaining(text) });
  });

  test('it changes with the summer time', async () => {
    const summer = Date.UTC(2026, 6, 1, 0, 0, 0);
    const output = await makeWorkspace().call('CurrentTime', { tz: 'Europe/Berlin' }, at(summer));
    expect(output.text).toContain('2026-07-01T02:00:00+02:00, Wednesday, Europe/Berlin');
  });

  test('without a zone it is the local one', async () => {
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
    const output = await makeWorkspace().call('CurrentTime', {}, at(now));
    expect(output.text).toContain(`, ${timeZone}, Unix time 1795343205`);
  });

  test('an unknown zone names near ones', async () => {
    expect(await makeWorkspace().call('CurrentTime', { timezone: 'Europe/Berlni' })).toEqual({
      text: expect.stringMatching(
        /^timezone: "Europe\/Berlni" is not known; .*Near it: Europe\/Berlin/,
      ),
      error: 'INVALID_PARAM',
    });
  });
});

describe('Sleep', () => {
  test('it sleeps by the clock of the task', async () => {
    const slept: number[] = [];
    const sleep = async (ms: number): Promise<void> => void slept.push(ms);
    const at = makeWorkspace();
    expect(await at.call('Sleep', { seconds: 1.5 }, { sleep })).toEqual({
      text: '1.5 s have passed.',
    });
    expect(await at.call('Sleep', { duration: '300' }, { sleep })).toEqual({
      text: '300 s have passed.',
    });
    expect(slept).toEqual([1500, 300_000]);
  });

  test.each([
    ['soon', 'seconds: is of the wrong type: "soon"; valid: number of at least 0 and at most 300'],
  ])('it refuses %j', async (seconds, text) => {
    expect(await makeWorkspace().call('Sleep', { seconds })).toEqual({
      text,
      error: 'INVALID_PARAM',
    });
  });

  test.each([
    [301, '300 s have passed.\n[seconds: 301 is above the maximum, 300 was used]', 300_000],
    [-1, '0 s have passed.\n[seconds: -1 is below the minimum, 0 was used]', 0],
  ])('it takes the nearest number for %j, and says so', async (seconds, text, ms) => {
    const slept: number[] = [];
    const sleep = async (each: number) => void slept.push(each);
    expect(await makeWorkspace().call('Sleep', { seconds }, { sleep })).toEqual({ text });
    expect(slept).toEqual([ms]);
  });

  test('it ends at once when the call is stopped', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const sleep = (): Promise<void> =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        controller.abort(new Error('stopped'));
      });
    expect(await makeWorkspace().call('Sleep', { seconds: 300 }, { signal, sleep })).toEqual({
      text: 'Sleep was cancelled.',
      error: 'CANCELLED',
    });
  });
});
