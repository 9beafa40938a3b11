import { array, assert, constantFrom, integer, property, uniqueArray } from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  parseBackground,
  TerminalReplies,
} from '../../../../src/front/tui/terminal/terminal-replies.ts';
import { KEYS } from '../emulator.ts';
import { Stage } from '../stage.ts';

describe('the reported background', () => {
  it.each([
    ['rgb:0000/0000/0000', 'dark'],
    ['rgb:ffff/ffff/ffff', 'light'],
    ['rgb:1e1e/1e1e/2e2e', 'dark'],
    ['rgb:fd/f6/e3', 'light'],
    ['rgba:ffff/ffff/ffff/8000', 'light'],
    ['#fdf6e3', 'light'],
    ['#000', 'dark'],
    ['rgb:0000/8000/0000', 'dark'],
    ['rgb:ffff/ffff', null],
    ['rgb:zzzz/0000/0000', null],
    ['', null],
    ['?', null],
  ])('%s is %s', (colour, background) => {
    expect(parseBackground(colour)).toBe(background);
  });
});

const ESC = '\u001b';
const ANSWER = '\u001b]11;rgb:ffff/ffff/ffff\u0007';
const LIGHT = { keys: [], background: 'light' };
const NOTHING = { keys: [], background: null };

function asked() {
  const clock = { time: 0 };
  const answers = new TerminalReplies(() => clock.time);
  answers.asked();
  return { answers, clock };
}

/** What is left of pieces, and what was learned. */
function heard(answers: TerminalReplies, pieces: readonly string[]) {
  const each = pieces.map((piece) => answers.read(piece));
  const background = each.find((one) => one.background !== null)?.background ?? null;
  return { keys: each.flatMap(({ keys }) => keys), background };
}

describe('a reply of the terminal', () => {
  it.each([ANSWER, '\u001b]11;rgb:ffff/ffff/ffff\u001b\\', '\u001b]11;#ffffff\u0007'])(
    'is not taken for a key: %j',
    (answer) => expect(asked().answers.read(answer)).toEqual(LIGHT),
  );

  it('leaves no key but its Esc if it comes in pieces of any size', () => {
    const cuts = uniqueArray(integer({ min: 1, max: ANSWER.length - 1 }));
    assert(
      property(cuts, (at) => {
        const ends = [...at.toSorted((a, b) => a - b), ANSWER.length];
        const pieces = ends.map((end, index) => ANSWER.slice(ends[index - 1] ?? 0, end));
        const { keys, background } = heard(asked().answers, pieces);
        expect(keys.filter((key) => key !== '\u001b')).toEqual([]);
        expect(background).toBe('light');
      }),
    );
  });

  it('is not taken for a key if it comes after a minute and after typing', () => {
    const { answers, clock } = asked();
    expect(heard(answers, ['h', 'i'])).toEqual({ keys: ['h', 'i'], background: null });
    clock.time = 60_000;
    expect(answers.read(ANSWER)).toEqual(LIGHT);
  });

  it('is ignored if it comes twice or was not requested', () => {
    const { answers } = asked();
    expect(answers.read(ANSWER)).toEqual(LIGHT);
    expect(answers.read(ANSWER)).toEqual(NOTHING);
  });

  it.each([
    '\u001b]11;rm -rf /\u0007',
    '\u001b]52;c;cm0gLXJmIC8=\u0007',
    '\u001bP>|XTerm(370)\u001b\\',
    '\u001b_Gi=31;OK\u001b\\',
    '\u001b]11;rgb:ff',
  ])('that is hostile is not a key and is ignored: %j', (answer) => {
    expect(asked().answers.read(answer)).toEqual(NOTHING);
  });

  it('swallows no key that is typed a second later if it is cut off', () => {
    const { answers, clock } = asked();
    expect(answers.read('\u001b]11;rgb:ff')).toEqual(NOTHING);
    clock.time = 1_500;
    expect(heard(answers, ['f', 'a', 'b'])).toEqual({ keys: ['f', 'a', 'b'], background: null });
  });
});

it('an Esc after a reply that was cut off is a key', () => {
  const pieces = ['\u001b', ']', '1', '1', ';', '\u001b', 'z'];
  expect(heard(asked().answers, pieces).keys).toEqual(['\u001b', '\u001b', 'z']);
});

it('no key is lost, with or without a reply between keys', () => {
  const typed = array(constantFrom('\u001b', ']', '1', ';', 'r', 'x', '\r', '\u001b[A'));
  assert(
    property(typed, typed, (before, after) => {
      const keys = [...before, ...after];
      // A last key that no other can belong to any more.
      expect(heard(asked().answers, [...keys, 'z']).keys.join('')).toBe(
        withoutAnswers([...keys, 'z'].join('')),
      );
    }),
  );
});

/** Who types all of an answer's beginning within a second of Esc, at the start, has typed an answer. */
function withoutAnswers(text: string): string {
  return text.replaceAll(new RegExp(`(?<=${ESC})\\]11(?:;[1r]*)?`, 'g'), '');
}

describe('on the screen', () => {
  const LIGHT_MODE = '\u001b[34m[default]';

  it('the report of a light background changes the colors and types nothing', async () => {
    await using stage = new Stage();
    await stage.screen();
    expect(stage.emulator.written).toContain('\u001b]11;?\u0007');
    await stage.emulator.press(ANSWER);
    const screen = await stage.screen();
    expect(stage.emulator.written).toContain(LIGHT_MODE);
    expect(screen).not.toMatch(/rgb|fff/);
  });

  it('a reply in pieces between keys does not change the typed text', async () => {
    await using stage = new Stage();
    await stage.emulator.press('a', 'b', '\u001b]11;rgb:ff', 'f', 'f', '/', 'f', 'f', 'f', 'f');
    await stage.emulator.press('/', '0', '0', '0', '0', '\u0007', 'c', KEYS.left);
    expect(await stage.screen()).toMatch(/^abc$/m);
  });
});
