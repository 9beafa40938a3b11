import { describe, expect, it } from 'vitest';
import { parseItems } from '../../../src/api/templates/parse-items.ts';

describe('items', () => {
  it.each([
    ['lines, without blank ones', 'a\n\n  b  \r\nc', 'items.txt', ['a', '  b  ', 'c']],
    ['a byte order mark', '\uFEFFa\nb', 'items', ['a', 'b']],
    ['a JSON list', '["a", "", {"x": 1}]', 'stdin', ['a', '', { x: 1 }]],
    [
      'a line that begins like a list',
      '[x] mend this\n[ ] and that',
      'todo',
      ['[x] mend this', '[ ] and that'],
    ],
    ['JSON lines', '{"x":1}\n{"x":2}\n', 'stdin', [{ x: 1 }, { x: 2 }]],
    ['lines of which some are objects', '{"x":1}\nplain', 'stdin', ['{"x":1}', 'plain']],
    ['texts in JSON lines', '"a\\nb"\n"c"', 'x.jsonl', ['a\nb', 'c']],
    ['the same item twice', 'a\na', 'items', ['a', 'a']],
  ])('%s', (_, text, where, items) => {
    expect(parseItems(text, where)).toEqual(items);
  });

  it.each([
    ['', 'items', 'items contains no items'],
    ['[]', 'x.json', 'x.json contains no items'],
    ['{"a":1}', 'x.json', 'x.json: must be a JSON list of items'],
    ['["a", 1]', 'stdin', 'stdin: item 2: an item is a text or an object'],
    ['"a"\nnope', 'x.jsonl', 'x.jsonl:2: is not JSON'],
    [
      `[${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}]`,
      'deep.json',
      'deep.json: item 1: is nested deeper than 100 levels',
    ],
    ['a\n'.repeat(10_001), 'many', 'many contains 10001 items; the limit of one run is 10000'],
  ])('%j of %s is refused', (text, where, message) => {
    expect(() => parseItems(text, where)).toThrow(message);
  });
});
