import { array, assert, boolean, dictionary, integer, oneof, property, string } from 'fast-check';
import { parse, stringify } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { locateKeys } from '../../src/base/toml-statements.ts';

function linesOf(document: string) {
  return [...locateKeys(document, parse)].map(({ path, line }) => `${path.join('.')}@${line}`);
}

describe('the lines of keys', () => {
  it.each([
    ['', []],
    ['a = 1 # [x]\n\n[b]\r\nc = "#"\r\n', ['a@1', 'b@3', 'b.c@4']],
    ["[a.'b c']\nd = '''\n[no]\nx = 1'''\ne = 1", ['a.b c@1', 'a.b c.d@2', 'a.b c.e@5']],
    ['a = [ # ]\n  "[",\n  { b = 1 },\n]\nc = """x\\"""""""\nd = 1', ['a@1', 'c@5', 'd@6']],
    ['a.b = { c = 1, d = { e = 2 } }', ['a@1', 'a.b@1', 'a.b.c@1', 'a.b.d@1', 'a.b.d.e@1']],
    ['[[a]]\nb = 1\n[[a]]\nb = 2', ['a@1', 'a.b@2', 'a@3', 'a.b@4']],
  ])('%j', (document, expected) => {
    expect(linesOf(document)).toEqual(expected);
  });

  it('are found for every key of any document', () => {
    const leaf = oneof(integer(), boolean(), string(), array(string()));
    const table = dictionary(string(), leaf);
    assert(
      property(dictionary(string({ minLength: 1 }), table), (value) => {
        const found = [...locateKeys(stringify(value), parse)].map(({ path }) => path);
        for (const [section, keys] of Object.entries(value)) {
          for (const key of Object.keys(keys)) expect(found).toContainEqual([section, key]);
        }
      }),
    );
  });
});
