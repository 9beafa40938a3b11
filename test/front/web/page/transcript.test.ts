import { describe, expect, it } from 'vitest';
import type { EventBody, TaskEvent } from '../../../../src/protocol/events/event.ts';
import type { LoggedEvent } from '../../../../src/front/web/wire.ts';
import { TranscriptFold } from '../../../../src/front/web/page/model/transcript.ts';

/** Numbers events in their order. The transcript reads only a few fields of each. */
function log(...bodies: readonly object[]): readonly LoggedEvent[] {
  return bodies.map((body, seq) => ({
    event: { v: 4, seq, ts: seq * 10, task: 't', epoch: 1, ...body } as unknown as TaskEvent,
  }));
}

function fold(events: readonly LoggedEvent[]): TranscriptFold {
  const transcript = new TranscriptFold();
  for (const event of events) transcript.add(event);
  return transcript;
}

const created = { type: 'task.created', spec: { parent: null, prompt: 'Do it' } };
const answer = (turn: number, ...content: readonly object[]) => ({
  type: 'turn.ended',
  turn,
  model: 'a/b',
  ms: 5,
  usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 },
  costUsd: null,
  message: { role: 'assistant', content },
});
const callPart = (id: string) => ({
  type: 'tool_call',
  id,
  name: 'Bash',
  input: { command: 'ls' },
});
const started = (callId: string) => ({
  type: 'call.started',
  callId,
  tool: 'Bash',
  input: { command: 'ls' },
});
const ended = (callId: string, text: string): EventBody =>
  ({ type: 'call.ended', callId, tool: 'Bash', text, error: null, facts: {}, ms: 7 }) as EventBody;

const shape = ({ entries }: TranscriptFold) =>
  entries.map((entry) => {
    const cut = entry.isCut ? ' cut' : '';
    if (entry.kind === 'call')
      return `${entry.tool} ${entry.state} ${entry.result?.text ?? '-'}${cut}`;
    if (entry.kind === 'note') return `note ${entry.text}${cut}`;
    if (entry.kind === 'input') return `input ${entry.text.text}${cut}`;
    return `${entry.kind}${cut}`;
  });

describe('the transcript of a log', () => {
  it('has the prompt, answers, and each call with its outcome', () => {
    const transcript = fold(
      log(
        created,
        answer(
          1,
          { type: 'text', text: 'I look.' },
          callPart('c1'),
          callPart('c2'),
          callPart('c3'),
        ),
        started('c1'),
        started('c2'),
        ended('c2', 'two'),
        {
          type: 'call.refused',
          callId: 'c3',
          tool: 'Bash',
          text: 'no',
          error: 'X',
          decision: null,
        },
      ),
    );
    expect(shape(transcript)).toEqual([
      'input Do it',
      'answer',
      'Bash running -',
      'Bash done two',
      'Bash refused no',
    ]);
    expect(transcript.entries[1]).toEqual({
      key: '1',
      seq: 1,
      at: 10,
      isCut: false,
      kind: 'answer',
      turn: 1,
      model: 'a/b',
      ms: 5,
      tokens: { input: 5, output: 2, cached: 3 },
      costUsd: null,
      reasoning: [],
      texts: [{ text: 'I look.', seq: 1, pointer: '/message/content/0/text', length: 7 }],
    });
  });

  it('ignores events that it has already', () => {
    const events = log(created, answer(1), started('c1'));
    const transcript = fold([...events, ...events, ...events]);
    expect(shape(transcript)).toEqual(['input Do it', 'answer', 'Bash running -']);
    expect(transcript.lastSeq).toBe(2);
  });

  it('marks what a rewind cuts off, and takes the mark back when the rewind is undone', () => {
    const events = log(
      created,
      answer(1),
      answer(2),
      { type: 'task.rewound', to: 1, undoes: null },
      answer(2),
      { type: 'task.rewound', to: 2, undoes: 3 },
    );
    expect(shape(fold(events.slice(0, 5)))).toEqual([
      'input Do it',
      'answer',
      'answer cut',
      'note Went back to event 1: what follows it no longer counts',
      'answer',
    ]);
    expect(shape(fold(events)).slice(0, 3)).toEqual(['input Do it', 'answer', 'answer']);
  });

  it('knows the length of a text that the server has cut', () => {
    const [first] = log(ended('c1', 'begin'));
    const transcript = fold(log(created, started('c1')));
    transcript.add({
      event: { ...first!.event, seq: 2 },
      cut: [{ pointer: '/text', length: 10_000_000 }],
    });
    expect(transcript.entries[1]).toMatchObject({
      result: { text: 'begin', seq: 2, pointer: '/text', length: 10_000_000 },
    });
  });

  it('counts the events that are missing, in their place', () => {
    const events = log(created, answer(1), answer(2), started('c1'), answer(3), answer(4));
    const readable = events.filter(({ event }) => ![0, 2, 3].includes(event.seq));
    expect(shape(fold(readable))).toEqual([
      'note 1 event of the log cannot be read',
      'answer',
      'note 2 events of the log cannot be read',
      'answer',
      'answer',
    ]);
  });

  it('names the child of a call', () => {
    const transcript = fold(
      log(created, answer(1, callPart('c1')), started('c1'), {
        type: 'child.created',
        child: 'kid',
        callId: 'c1',
        background: false,
      }),
    );
    expect(transcript.entries[2]).toMatchObject({ kind: 'call', child: 'kid' });
  });

  it('keeps a bounded number of entries, and calls still find their entry', () => {
    const notes = Array.from({ length: 6_000 }, (_, at) => ({
      type: 'warning',
      message: `w${at}`,
    }));
    const transcript = fold(
      log(created, ...notes, started('c1'), ...notes.slice(0, 100), ended('c1', 'x')),
    );
    expect(transcript.entries.length).toBeLessThanOrEqual(4_500);
    expect(transcript.omitted + transcript.entries.length).toBe(6_102);
    expect(transcript.entries.find(({ kind }) => kind === 'call')).toMatchObject({ state: 'done' });
  });
});
