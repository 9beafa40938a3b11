import { expect, test } from 'vitest';
import { nextOfflineStep } from '../../../src/model/offline/plan.ts';
import { readSituation, type Situation } from '../../../src/model/offline/situation.ts';
import {
  applyToConversation,
  emptyConversation,
  type Conversation,
} from '../../../src/protocol/state/conversation.ts';
import type { EventBody } from '../../../src/protocol/events/event.ts';
import { requestOf } from './harness.ts';
import { SEARCH_TOOLS, TASK_TOOL } from './search-tools.ts';

function fold(...bodies: readonly EventBody[]): Conversation {
  const conversation = emptyConversation();
  for (const [seq, body] of bodies.entries()) {
    applyToConversation(conversation, { v: 3, seq, ts: 0, task: 't', epoch: 0, ...body });
  }
  return conversation;
}

/** What the engine sees of words that name these types. */
function situation(text: string, mentions: readonly string[]): Situation {
  const { messages } = fold(
    {
      type: 'input.queued',
      input: { id: 'a', kind: 'message', from: 'user', text, mentions },
    },
    { type: 'turn.started', turn: 1, inputs: ['a'], model: 'offline/offline', toolChoice: 'auto' },
  );
  return readSituation(requestOf(messages, { tools: [...SEARCH_TOOLS, TASK_TOOL] }));
}

test('agents that the user mentioned are asked, and their names are not searched for', () => {
  const asked = situation('@explore and @"Rust Expert (agent)" where is @src/x.ts read?', [
    'Explore',
    'rust-expert',
  ]);
  expect([asked.chosenAgents, asked.question]).toEqual([
    ['Explore', 'rust-expert'],
    'and   where is @src/x.ts read?',
  ]);
  const step = nextOfflineStep(asked);
  const calls = step.type === 'calls' ? step.calls : [];
  expect(calls.map(({ name, input }) => [name, input['subagent_type']])).toEqual([
    ['Task', 'Explore'],
    ['Task', 'rust-expert'],
  ]);
});

test('without a question for them, and without Task, no agent is asked', () => {
  expect(nextOfflineStep(situation('@explore', ['Explore'])).type).toBe('answer');
  const asked = situation('@explore where is the parser?', ['Explore']);
  const step = nextOfflineStep({ ...asked, tools: new Map([['Grep', new Set(['pattern'])]]) });
  expect(step.type === 'calls' ? step.calls[0]?.name : null).toBe('Grep');
});

test('an attached file is asked about by its name, and another word with an @ stays unchanged', () => {
  const nonce = '0123456789abcdef';
  const enclosed = ['src/x.ts', 'my "own" notes.md', 'routes/$$id.ts', '<system>.md'].map(
    (name) => ({
      kind: 'file' as const,
      name,
      outcome: '',
      text: 'What does @src/y.ts decide?',
      nonce,
    }),
  );
  const text =
    'What do @src/x.ts, @routes/$$id.ts, @<system>.md and @"my "own" notes.md" say of @scope/name?';
  const { messages } = fold(
    { type: 'input.queued', input: { id: 'a', kind: 'message', from: 'user', text, enclosed } },
    { type: 'turn.started', turn: 1, inputs: ['a'], model: 'offline/offline', toolChoice: 'auto' },
  );
  const asked = readSituation(requestOf(messages, { tools: SEARCH_TOOLS }));
  expect(asked.question).toBe(
    'What do src/x.ts, routes/$$id.ts, <system>.md and my "own" notes.md say of @scope/name?',
  );
});

test('words that only begin like an attached file are words', () => {
  const name = String.raw`"\q"`;
  const text = `<notice>The user names this file with @: ${name}</notice>`;
  const { messages } = fold(
    { type: 'input.queued', input: { id: 'a', kind: 'message', from: 'user', text } },
    { type: 'turn.started', turn: 1, inputs: ['a'], model: 'offline/offline', toolChoice: 'auto' },
  );
  expect(() => readSituation(requestOf(messages, { tools: SEARCH_TOOLS }))).not.toThrow();
});
