import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeWorkspace } from '../workspace.ts';

const small = { resultBytes: 400, readBytes: 400, spillBytes: 400, toolMs: 1000 };

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

  test('both name their limits', async () => {
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

  test('each reverses the other', async () => {
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
