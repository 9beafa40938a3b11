import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitIdentifier, stem } from '../../src/base/word-stems.ts';

describe('splitIdentifier', () => {
  test.each([
    ['parseHTTPHeader_v2', ['parse', 'http', 'header', 'v2']],
    ['TOOL_ALIASES', ['tool', 'aliases']],
    ['tool-aliases', ['tool', 'aliases']],
    ['fs.readFile', ['fs', 'read', 'file']],
    ['std::vector', ['std', 'vector']],
    ['überGröße', ['über', 'größe']],
    ['', []],
  ])('%s', (name, parts) => {
    expect(splitIdentifier(name)).toEqual(parts);
  });
});

describe('stem', () => {
  test.each([
    ['aliases', 'alias'],
    ['caching', 'cach'],
    ['cache', 'cach'],
    ['caches', 'cach'],
    ['stopped', 'stop'],
    ['stopping', 'stop'],
    ['entries', 'entr'],
    ['entry', 'entr'],
    ['parser', 'pars'],
    ['parsing', 'pars'],
    ['errors', 'error'],
    ['string', 'string'],
    ['ids', 'ids'],
    ['class', 'class'],
    ['utf8', 'utf8'],
  ])('%s → %s', (word, expected) => {
    expect(stem(word)).toBe(expected);
  });

  test('a stem is never empty and never longer than its word', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{1,20}$/), (word) => {
        const stemmed = stem(word);
        return stemmed.length > 0 && stemmed.length <= word.length;
      }),
    );
  });
});
