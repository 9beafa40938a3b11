import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAnswerJson } from '../../../src/engine/structured/check-answer.ts';

const fence = (text: string, language = 'json') => `\`\`\`${language}\n${text}\n\`\`\``;

describe('the JSON of an answer', () => {
  it.each([
    ['the full answer', '{"a":1}', { a: 1 }],
    ['with space around it', '\n\t [1, 2] \r\n', [1, 2]],
    ['after a byte order mark', '\ufeff"x"', 'x'],
    ['null', 'null', null],
    ['the only block of JSON', `Here it is:\n${fence('{"a":1}')}\nThat is all.`, { a: 1 }],
    ['the only block marked as JSON', `${fence('const a = 1;', 'ts')}\n${fence('[1]')}`, [1]],
    ['in capitals, after a blank, with CRLF', '``` JSON\r\n{"a":\r\n1}\r\n```\r\n', { a: 1 }],
    ['the only block without a mark', `So:\n${fence('[1]', '')}`, [1]],
    [
      'a block with fences in its texts',
      fence('{"md":"```json\\n[2]\\n```"}'),
      { md: '```json\n[2]\n```' },
    ],
    [
      'names that every object has',
      '{"__proto__":1,"constructor":2}',
      JSON.parse('{"__proto__":1,"constructor":2}'),
    ],
    ['half of an emoji', '"\\ud83d"', '\ud83d'],
    ['200 levels', `${'['.repeat(200)}${']'.repeat(200)}`, expect.any(Array)],
  ])('is %s', (_, answer, value) => {
    expect(parseAnswerJson(answer)).toEqual({ ok: true, value });
  });

  it.each([
    ['prose', 'Nothing found.', /^it is not JSON: Unexpected token 'N'/],
    ['an empty answer', '', /^it is not JSON: Unexpected end of JSON input$/],
    ['JSON with words before it', 'The result: {"a":1}', /^it is not JSON: /],
    ['JSON with words after it', '{"a":1} is it', /^it is not JSON: /],
    ['two values', '{"a":1}\n{"a":2}', /^it is not JSON: /],
    ['a comma too many', '{"a":1,}', /^it is not JSON: /],
    [
      'two blocks of JSON',
      `${fence('1')}\n${fence('2')}`,
      /^it holds 2 blocks of JSON; one value is wanted$/,
    ],
    ['a block of something else', fence('{"a":1}', 'js'), /^it is not JSON: /],
    ['a block that is cut off', '```json\n{"a":1}', /^it is not JSON: /],
    ['a block that is not JSON', fence('{a:1}'), /^it is not JSON: Expected property name/],
    ['a number out of range', '{"a":[1e999]}', /^it holds a number that is too large$/],
    [
      '201 levels',
      `${'['.repeat(201)}${']'.repeat(201)}`,
      /^it is nested more than 200 levels deep$/,
    ],
    ['a million levels', '['.repeat(1_000_000), /^it is not JSON: /],
    ['a megabyte of words on one line', 'word '.repeat(200_000), /^it is not JSON: /],
  ])('is not found in %s', (_, answer, why) => {
    expect(parseAnswerJson(answer)).toEqual({ ok: false, reason: expect.stringMatching(why) });
  });

  it('is the value that was written, for any value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.boolean(), (value, isFenced) => {
        const json = JSON.stringify(value, null, isFenced ? 2 : 0);
        const answer = isFenced ? `It is:\n${fence(json)}` : json;
        expect(parseAnswerJson(answer)).toEqual({ ok: true, value: JSON.parse(json) });
      }),
    );
  });
});
