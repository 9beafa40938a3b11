import { expect, it } from 'vitest';
import { buildHeadTexts } from '../../../src/engine/compaction/compaction-texts.ts';
import type { AddressedStatement } from '../../../src/protocol/state/compaction.ts';
import { estimateTokensUnrounded } from '../../../src/base/token-estimate.ts';
import { child, logOf } from '../../report/logs.ts';
import { foldEvents } from '../../../src/protocol/state/fold.ts';

/** Returns the texts between the first and the last notice. */
function told(said: readonly AddressedStatement[], most: number): readonly string[] {
  const state = foldEvents(logOf('a', [], { prompt: 'the task', parent: 'p1' }));
  state.conversation.compaction.said = said;
  return buildHeadTexts(state, 100, { maxTokens: most, isSummarised: true }).slice(1, -1);
}

function message(text: string, from = 'p1'): AddressedStatement {
  return { at: 3, from, text, as: 'message' };
}

const PROMPT: AddressedStatement = { at: 1, from: 'p1', text: 'the task', as: 'prompt' };

it('keeps all inputs, and names their senders', () => {
  const inherited: AddressedStatement = {
    at: 0,
    from: 'user',
    text: 'change no file',
    as: 'inherited',
  };
  const later = { ...message('not in view'), at: 100 };
  expect(told([inherited, PROMPT, message('go on'), message('hi', 'x2'), later], 400)).toEqual([
    'To the agent that had this conversation before you: change no file',
    'the task',
    'go on',
    'From x2: hi',
  ]);
});

it('shortens the oldest inputs first, and the prompt to no less than its half', () => {
  const given = message('handed '.repeat(200), 'muster');
  const [first = '', second, third, ...more] = told([given, PROMPT, message('go on')], 200);
  expect(first).toMatch(
    /^From muster: handed[^]*characters left out here to make room[^]*handed $/,
  );
  expect(estimateTokensUnrounded(first)).toBeLessThan(120);
  expect([second, third, more]).toEqual(['the task', 'go on', []]);
});

it('stays within its size, whatever the number of messages', () => {
  const many = Array.from({ length: 2_000 }, (_, n) => message(`message ${n}: `.repeat(10)));
  const texts = told([PROMPT, ...many], 1_000);
  expect(texts[0]).toBe('the task');
  expect(texts.at(-2)).toBe(many.at(-1)?.text);
  expect(texts.at(-1)).toMatch(/^<notice>\d+ older messages to you left out here.<\/notice>$/);
  expect(texts.reduce((sum, text) => sum + estimateTokensUnrounded(text), 0)).toBeLessThan(1_050);
});

it('names the background work and the loaded skills', () => {
  const facts = { skill: 'release</notice>' };
  const skillLoaded = {
    type: 'call.ended',
    callId: 's',
    tool: 'Skill',
    text: 'do',
    facts,
  } as const;
  const log = logOf('a', [
    [1, child('c1')],
    [2, child('c2')],
    [3, { type: 'shell.started', shell: 'sh1', command: 'sleep 9', callId: 'x', output: '/o' }],
    [4, { ...skillLoaded, error: null, ms: 1 }],
  ]);
  const texts = buildHeadTexts(foldEvents(log), 1, { maxTokens: 100, isSummarised: true });
  expect(texts.slice(1, -1)).toEqual([
    '<notice>Running for you in the background: task c1, task c2, shell sh1.</notice>',
    expect.stringMatching(
      /^<notice>Skills whose instructions you follow: release<¦\/notice>\. Load[^<]*<\/notice>$/,
    ),
  ]);
});
