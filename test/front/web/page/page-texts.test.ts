import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LATER } from '../../../../src/front/web/wire.ts';
import { toTextAnswer } from '../../../../src/front/web/page/model/answer-text.ts';
import { Announcer } from '../../../../src/front/web/page/model/announcer.ts';
import { splitCodeBlocks } from '../../../../src/front/web/page/model/code-blocks.ts';
import { compareTextLines } from '../../../../src/front/web/page/model/line-diff.ts';
import { makeVisible } from '../../../../src/front/web/page/model/make-visible.ts';
import { findKeyAction, PAGE_KEYS } from '../../../../src/front/web/page/model/page-keys.ts';
import {
  formatPageRoute,
  parseKeyFragment,
  parsePageRoute,
  TASK_TABS,
} from '../../../../src/front/web/page/model/page-route.ts';

describe('makeVisible', () => {
  it('shows direction marks, removes escape sequences, and keeps everything in commands', () => {
    const data = {
      title: 'a\u202eb',
      text: '\u001b[31mred\u001b[0m',
      input: { command: 'x\u001b[2Ky' },
      list: ['\u2066z'],
      count: 3,
      none: null,
    };
    expect(makeVisible(data)).toEqual({
      title: 'a⟨U+202E⟩b',
      text: 'red',
      input: { command: 'x⟨U+001B⟩[2Ky' },
      list: ['⟨U+2066⟩z'],
      count: 3,
      none: null,
    });
  });

  it('leaves no direction mark and no control character in any text or name', () => {
    const signs = fc.constantFrom(
      'a',
      '\u202e',
      '\u2066',
      '\u200f',
      '\u061c',
      '\u001b',
      '[',
      'm',
      '\r',
      '\ud800',
    );
    const texts = fc.string({ unit: signs, maxLength: 12 });
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        texts,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(texts, tie('value'), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(value, (data) => {
        const shown = JSON.stringify(makeVisible(structuredClone(data)));
        expect(shown).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]|\\u001b|\\ud800/);
      }),
    );
  });

  it('gives a text named __proto__ no power', () => {
    const data: unknown = JSON.parse('{"__proto__": {"text": "a\\u202e"}, "b": 1}');
    const shown = makeVisible(data);
    expect(Object.getPrototypeOf(shown)).toBe(Object.prototype);
    expect(JSON.stringify(shown)).toBe('{"__proto__":{"text":"a⟨U+202E⟩"},"b":1}');
  });
});

describe('the address', () => {
  const ids = fc.stringMatching(/^[a-z0-9]{1,20}$/);
  it('is read as it was written', () => {
    const routes = fc.oneof(
      fc.record({
        view: fc.constant('tasks' as const),
        task: ids,
        tab: fc.constantFrom(...TASK_TABS),
      }),
      fc.record({
        view: fc.constant('compare' as const),
        left: fc.option(ids),
        right: fc.option(ids),
      }),
      fc.constant({ view: 'questions' as const }),
    );
    fc.assert(
      fc.property(routes, (route) => {
        expect(parsePageRoute(formatPageRoute(route))).toEqual(route);
      }),
    );
  });

  it.each([
    '',
    '#',
    '#/x',
    '#/tasks/<script>',
    '#/tasks/../../etc',
    '#//',
    '#/tasks/javascript:alert(1)',
  ])('%j means the list of all tasks', (fragment) => {
    expect(parsePageRoute(fragment)).toEqual({ view: 'tasks', task: null, tab: 'transcript' });
  });
});

describe('the key in an address', () => {
  it.each([
    ['#key=fUke6-hK6_q', 'fUke6-hK6_q'],
    ['#key=', null],
    ['#key=a b', null],
    ['#key=a%0d%0ab', null],
    ['#key=a\n', null],
    [`#key=${'a'.repeat(201)}`, null],
    ['#/tasks/key=a', null],
    ['key=a', null],
    ['', null],
  ])('%j has the key %j', (fragment, key) => {
    expect(parseKeyFragment(fragment)).toBe(key);
  });
});

describe('keys', () => {
  const plain = { ctrlKey: false, altKey: false, metaKey: false };
  it('are each used once, and have no effect together with a modifier', () => {
    expect(new Set(PAGE_KEYS.map(({ key }) => key)).size).toBe(PAGE_KEYS.length);
    for (const { key, action } of PAGE_KEYS) {
      expect(findKeyAction({ ...plain, key })).toBe(action);
      expect(findKeyAction({ ...plain, key, ctrlKey: true })).toBeNull();
    }
    expect(findKeyAction({ ...plain, key: 'z' })).toBeNull();
  });
});

describe('compareTextLines', () => {
  it('marks the lines that differ', () => {
    expect(compareTextLines('a\nb\nc\n', 'a\nx\nc\nd\n')).toEqual([
      { mark: ' ', text: 'a' },
      { mark: '-', text: 'b' },
      { mark: '+', text: 'x' },
      { mark: ' ', text: 'c' },
      { mark: '+', text: 'd' },
    ]);
  });

  it('always contains both texts in full', () => {
    const texts = fc
      .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
      .map((lines) => lines.map((line) => `${line}\n`).join(''));
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const lines = compareTextLines(before, after);
        const without = (mark: string) =>
          lines.flatMap((line) => (line.mark === mark ? [] : [`${line.text}\n`])).join('');
        expect([without('+'), without('-')]).toEqual([before, after]);
      }),
    );
  });

  it('shows texts that are too long for a comparison in full', () => {
    const [before, after] = ['a', 'b'].map((letter) => `${letter}\n`.repeat(2_000));
    expect(compareTextLines(before ?? '', after ?? '')).toHaveLength(4_000);
  });
});

describe('splitCodeBlocks', () => {
  it.each([
    ['plain', [[false, 'plain']]],
    [
      'a\n```ts\ncode\n```\nb',
      [
        [false, 'a'],
        [true, 'code'],
        [false, 'b'],
      ],
    ],
    ['```\nopen', [[true, 'open']]],
    ['~~~\n```\n~~~', [[true, '```']]],
    ['````\n```\n````', [[true, '```']]],
  ])('splits %j', (text, blocks) => {
    expect(splitCodeBlocks(text).map(({ isCode, text: part }) => [isCode, part])).toEqual(blocks);
  });
});

describe('the answer to a question of AskUser', () => {
  it.each(['yes', 'Later', 'later', ' later', 'the second one'])(
    '%j is never "not now"',
    (typed) => {
      const sent = toTextAnswer(typed);
      expect(sent).not.toBe(LATER);
      expect(sent.trim()).toBe(typed.trim());
    },
  );
});

describe('the announcer', () => {
  it('reads out the newest messages, counts the others, and says nothing twice', () => {
    const announcer = new Announcer();
    expect(announcer.take()).toBe('');
    for (const text of ['a', 'b', 'c', 'd', 'e']) announcer.add(text);
    expect(announcer.take()).toBe('2 earlier changes. c. d. e.');
    expect(announcer.take()).toBe('');
  });
});
