import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  mapStrings,
  decodeLogValue,
  encodeLogLine,
  LARGE_LINE_BYTES,
  LARGE_STRING_BYTES,
} from '../../../src/store/log/large-strings.ts';

function roundTrip(value: unknown): {
  readonly line: string;
  readonly back: unknown;
  readonly blobs: number;
} {
  const blobs = new Map<string, string>();
  const line = encodeLogLine(value, (text) => {
    const name = String(blobs.size);
    blobs.set(name, text);
    return name;
  });
  const parsed: unknown = JSON.parse(line);
  return {
    line,
    back: decodeLogValue(parsed, (name) => blobs.get(name) ?? 'lost'),
    blobs: blobs.size,
  };
}

const strange = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string().map((text) => `\u0010${text}`),
  fc.string().map((text) => `\u0010blob:${text}`),
  fc.string().map((text) => `\u0010\u0010blob:${text}`),
  fc
    .tuple(fc.constantFrom('a', '✓', '\ud83d', '\u0010'), fc.integer({ min: 5000, max: 40_000 }))
    .map(([unit, count]) => unit.repeat(count)),
);

describe('a line whose large strings were moved to blobs', () => {
  it('decodes to the same value', () => {
    const json = fc.jsonValue({ stringUnit: 'binary' });
    const value = fc.record({ type: fc.constant('x'), a: fc.array(strange), b: json });
    fc.assert(
      fc.property(value, (event) => {
        expect(roundTrip(event).back).toEqual(JSON.parse(JSON.stringify(event)));
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ['a line that just fits stays unchanged', 'a'.repeat(LARGE_LINE_BYTES - 11), 0],
    ['a line that does not fit loses its large string', 'a'.repeat(LARGE_LINE_BYTES), 1],
    ['bytes are counted, not letters', '✓'.repeat(LARGE_LINE_BYTES / 3), 1],
  ])('%s', (_name, text, blobs) => {
    expect(roundTrip({ text }).blobs).toBe(blobs);
  });

  it('moves only strings that are large themselves', () => {
    const large = 'a'.repeat(LARGE_STRING_BYTES);
    const small = 'b'.repeat(LARGE_STRING_BYTES - 1);
    const { line, blobs } = roundTrip({ texts: [large, small, large, small, small] });
    expect(blobs).toBe(2);
    expect(line.includes(large)).toBe(false);
    expect(line.includes(small)).toBe(true);
  });
});

describe('mapStrings', () => {
  it('returns the same object if nothing changed', () => {
    const value = { a: ['x', { b: null, c: 3 }] };
    expect(mapStrings(value, (text) => text)).toBe(value);
  });

  it('changes strings at any depth, but not keys, other values or the input', () => {
    const same = { z: 1 };
    const value = { x: 'x', list: ['x', 'y', 1], same, n: null, u: undefined };
    const changed = mapStrings(value, (text) => (text === 'x' ? 'X' : text));
    expect(changed).toEqual({ x: 'X', list: ['X', 'y', 1], same, n: null, u: undefined });
    expect(value.x).toBe('x');
  });

  it('keeps a key named __proto__ a key', () => {
    const value: unknown = JSON.parse('{"__proto__":{"a":"x"}}');
    const changed = mapStrings(value, () => 'y');
    expect(JSON.stringify(changed)).toBe('{"__proto__":{"a":"y"}}');
    expect(Reflect.get(Object(changed), 'a')).toBeUndefined();
  });
});
