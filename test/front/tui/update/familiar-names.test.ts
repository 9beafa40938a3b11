import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../../src/front/tui/update/commands/command-table.ts';
import {
  BARE_WORDS,
  ELSEWHERE,
  FAMILIAR_NAMES,
} from '../../../../src/front/tui/update/commands/familiar-names.ts';
import { readInput } from '../../../../src/front/tui/update/submit.ts';
import { update } from '../../../../src/front/tui/update/update.ts';
import { CONTEXT, stateOf } from './fixtures.ts';

const names = COMMANDS.map(({ name }) => name);

describe('a familiar name', () => {
  it.each([...FAMILIAR_NAMES, ...BARE_WORDS])(
    '%s stands for a command that exists',
    (name, own) => {
      expect(names).toContain(own);
      expect(names).not.toContain(name === own ? '' : name);
    },
  );

  it.each([...BARE_WORDS])('%s counts only as the full message', (word, name) => {
    expect(readInput(` ${word} `)).toEqual({ kind: 'command', name, argument: '' });
    expect(readInput(`${word} the loop`)).toEqual({ kind: 'message' });
  });

  it.each([...ELSEWHERE])('/%s says what to use instead', (name, text) => {
    expect(names).not.toContain(name);
    const { state } = update(stateOf(), { type: 'submitted', text: `/${name}` }, CONTEXT);
    expect(state.tree.main.entries).toMatchObject([
      { kind: 'page', title: `/${name}`, lines: [text] },
    ]);
  });
});

it.each([
  ['cst', 'cost'],
  ['exti', 'exit'],
  ['hlep', 'help'],
  ['undoo', 'undo'],
])('/%s suggests /%s', (typed, meant) => {
  const { state } = update(stateOf(), { type: 'submitted', text: `/${typed}` }, CONTEXT);
  expect(state.tree.main.entries).toMatchObject([
    {
      title: `/${typed} is not a command`,
      lines: [expect.stringContaining(`did you mean /${meant}?`)],
    },
  ]);
});
