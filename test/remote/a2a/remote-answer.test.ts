import { Role, TaskState, type StreamResponse, type Task } from '@a2a-js/sdk';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelPart } from '../../../src/protocol/model.ts';
import { RemoteAnswer } from '../../../src/remote/a2a/remote-answer.ts';
import { agentMessage, artifact, statusUpdate, textPart } from './agent-server.ts';

type Update = StreamResponse['payload'];

const IDS = { taskId: 'task-1', contextId: 'context-1' };
const { TASK_STATE_COMPLETED, TASK_STATE_INPUT_REQUIRED, TASK_STATE_WORKING } = TaskState;
const DONE = statusUpdate(TASK_STATE_COMPLETED);

function give(
  id: string,
  parts: Parameters<typeof artifact>[1],
  append = false,
  name = '',
): Update {
  const value = { ...IDS, artifact: artifact(id, parts, name), append };
  return { $case: 'artifactUpdate', value: { ...value, lastChunk: false, metadata: undefined } };
}

function task(state: TaskState, more: Partial<Task> = {}): Update {
  const status = { state, message: undefined, timestamp: undefined };
  return {
    $case: 'task',
    value: {
      id: 'task-1',
      contextId: 'context-1',
      status,
      artifacts: [],
      history: [],
      metadata: undefined,
      ...more,
    },
  };
}

function answer(updates: readonly Update[]): { readonly last: ModelPart; readonly shown: string } {
  const built = new RemoteAnswer({ maxCharacters: 100_000, maxUpdates: 1_000 });
  const deltas = updates.flatMap((update) => built.take(update).deltas);
  const shown = deltas.flatMap((each) => (each.type === 'text_delta' ? [each.text] : [])).join('');
  return { last: built.finish('a2a/far'), shown };
}

function textOf(updates: readonly Update[]): string {
  const { last } = answer(updates);
  const part = last.type === 'finished' ? last.message.content.at(-1) : undefined;
  return part?.type === 'text' ? part.text : `not finished: ${last.type}`;
}

const file = (filename: string, content: NonNullable<ReturnType<typeof textPart>['content']>) => ({
  content,
  filename,
  mediaType: 'application/pdf',
  metadata: undefined,
});

describe('the text of an answer', () => {
  test.each<readonly [name: string, updates: readonly Update[], text: string]>([
    [
      'pieces of one text',
      [give('a', [textPart('o'), textPart('n')]), give('a', [textPart('e')], true), DONE],
      'one',
    ],
    [
      'an artifact that replaces itself',
      [give('a', [textPart('one')]), give('a', [textPart('two')]), DONE],
      'two',
    ],
    [
      'several artifacts with their names',
      [give('a', [textPart('one')], false, 'First'), give('b', [textPart('two')]), DONE],
      'First:\none\n\ntwo',
    ],
    [
      'the last message after the artifacts',
      [give('a', [textPart('one')]), statusUpdate(TASK_STATE_COMPLETED, 'All done.')],
      'one\n\nAll done.',
    ],
    [
      'a last message that repeats an artifact',
      [give('a', [textPart('one')]), statusUpdate(TASK_STATE_COMPLETED, 'one')],
      'one',
    ],
    [
      'data and files',
      [
        give('a', [
          textPart('Report:'),
          { ...textPart(''), content: { $case: 'data', value: { sum: 7 } } },
          file('a\nb.pdf', { $case: 'raw', value: Buffer.from('12345') }),
          file('', { $case: 'url', value: 'https://files.example/x' }),
          textPart('End.'),
        ]),
        DONE,
      ],
      'Report:\n{"sum":7}\n[file: a b.pdf, application/pdf, 5 bytes]\n[file: application/pdf, at https://files.example/x]\nEnd.',
    ],
    [
      'an answer in the history',
      [
        task(TASK_STATE_COMPLETED, {
          history: [
            agentMessage('early'),
            agentMessage('late'),
            { ...agentMessage('mine'), role: Role.ROLE_USER },
          ],
        }),
      ],
      'late',
    ],
    ['nothing', [DONE], '[The agent has completed the task without a text.]'],
    [
      'a question without a text',
      [statusUpdate(TASK_STATE_INPUT_REQUIRED)],
      '[The agent waits for an answer, and did not say what it asks.]',
    ],
  ])('%s', (_, updates, text) => {
    expect(textOf(updates)).toBe(text);
  });

  test('ids are kept for the next message, and a task only while it waits', () => {
    const metaOf = (updates: readonly Update[]) => {
      const { last } = answer(updates);
      return last.type === 'finished' ? last.message.content.at(-1)?.meta : null;
    };
    expect([
      metaOf([statusUpdate(TASK_STATE_INPUT_REQUIRED, 'Which?')]),
      metaOf([DONE]),
      metaOf([
        statusUpdate(TASK_STATE_COMPLETED, '', { taskId: '', contextId: 'x'.repeat(2_000) }),
      ]),
    ]).toEqual([{ a2a: IDS }, { a2a: { contextId: 'context-1' } }, undefined]);
  });

  test('what is shown while a text arrives is the answer, however it is cut into pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 }), { minLength: 1 }), (pieces) => {
        const streamed = pieces.map((piece, at) => give('a', [textPart(piece)], at > 0));
        const polled = pieces.map((_, at) =>
          task(TASK_STATE_WORKING, {
            artifacts: [artifact('a', pieces.slice(0, at + 1).map(textPart))],
          }),
        );
        const expected = pieces.join('');
        for (const updates of [streamed, polled]) {
          expect(answer([...updates, DONE]).shown).toBe(expected);
          expect(textOf([...updates, DONE])).toBe(expected);
        }
      }),
    );
  });
});

test('an update that says nothing new is not news', () => {
  const built = new RemoteAnswer({ maxCharacters: 100, maxUpdates: 100 });
  const working = statusUpdate(TASK_STATE_WORKING, 'Thinking.');
  const news = [working, working, task(TASK_STATE_WORKING), undefined, DONE].map(
    (update) => built.take(update).isNews,
  );
  expect(news).toEqual([true, false, false, false, true]);
});
