import { expect, it } from 'vitest';
import type { TaskEvent } from '../../../../src/protocol/events/event.ts';
import { fullEntry, type FullTextSource } from '../../../../src/front/tui/model/full-entry.ts';
import { isSelectable } from '../../../../src/front/tui/model/entry.ts';
import type { PagerSection } from '../../../../src/front/tui/model/pager.ts';
import { applyToTranscript, emptyTranscript } from '../../../../src/front/tui/model/transcript.ts';

const BEFORE = `${Array.from({ length: 30 }, (_, index) => `line ${index + 1}`).join('\n')}\n`;

/** The full text of the last entry of a log with these events. */
function lastEntry(bodies: readonly object[], source: Partial<FullTextSource> = {}) {
  const events = bodies.map(
    (body, seq) => ({ v: 1, seq, ts: 0, task: 't', epoch: 1, ...body }) as unknown as TaskEvent,
  );
  const transcript = emptyTranscript('t');
  for (const event of events) applyToTranscript(transcript, event);
  const entry = transcript.entries.at(-1);
  if (entry === undefined || !isSelectable(entry)) throw new Error('the log has no such entry');
  return fullEntry(entry, transcript, {
    scan: (visit) => events.forEach(visit),
    readBackup: () => null,
    readSpilled: () => null,
    readShellOutput: () => null,
    ...source,
  });
}

function callOf(tool: string, input: object, end: object): readonly object[] {
  return [
    { type: 'call.started', callId: 'c', tool, input },
    { type: 'call.ended', callId: 'c', tool, error: null, facts: {}, ms: 1, ...end },
  ];
}

/** The lines of a change with their signs and numbers. */
function drawn(section: PagerSection | undefined): readonly string[] {
  if (section?.kind !== 'diff') return [];
  const { lines, first } = section.diff;
  return lines.map((line) =>
    line.sign === '…'
      ? `… ${line.count}`
      : `${(first ?? 1) + line.number - 1}${line.sign}${line.text}`,
  );
}

const EDIT = { file_path: 'a.txt', old_string: 'line 20', new_string: 'line twenty' };
const CHANGED = { changed: [{ path: '/a.txt', before: 'hash', after: 'other' }] };

it('a change has the unchanged lines around it, if the former content was kept', () => {
  const log = callOf('Edit', EDIT, { text: 'Edited', facts: CHANGED });
  const { title, sections } = lastEntry(log, { readBackup: () => BEFORE });
  expect(title).toBe('Edit a.txt');
  expect(drawn(sections[0])).toEqual([
    '… 16',
    '17 line 17',
    '18 line 18',
    '19 line 19',
    '20-line 20',
    '20+line twenty',
    '21 line 21',
    '22 line 22',
    '23 line 23',
    '… 7',
  ]);
});

it('a file that was written again shows what has changed in it', () => {
  const input = { file_path: 'a.txt', content: BEFORE.replace('line 1\n', 'line one\n') };
  const log = callOf('Write', input, { text: 'Replaced', facts: CHANGED });
  const { sections } = lastEntry(log, { readBackup: () => BEFORE });
  expect(drawn(sections[0]).slice(0, 3)).toEqual(['1-line 1', '1+line one', '2 line 2']);
});

it.each([
  ['is gone', null],
  ['does not contain the text exactly', 'else'],
  ['contains the text twice', 'line 20 line 20'],
])('a change is the requested one if the former content %s', (_, before) => {
  const end = { text: 'Edited a.txt: 1 replacement at line 20.', facts: CHANGED };
  const { sections } = lastEntry(callOf('Edit', EDIT, end), { readBackup: () => before });
  expect(drawn(sections[0])).toEqual(['20-line 20', '20+line twenty']);
});

it('a result is shown in full, from the file that it names if there is one', () => {
  const long = 'x\n'.repeat(10_000);
  const log = callOf('Bash', { command: 'a\nb', timeout: 5 }, { text: long });
  expect(lastEntry(log).sections).toEqual([
    { kind: 'text', lines: ['command:', 'a', 'b', 'timeout: 5'] },
    { kind: 'heading', text: 'Result' },
    { kind: 'text', lines: Array<string>(10_000).fill('x') },
  ]);
  expect(lastEntry(log, { readSpilled: () => 'all\nof it\n' }).sections.at(-1)).toEqual({
    kind: 'text',
    lines: ['all', 'of it'],
    isOutput: true,
  });
});

it('an answer, a thought and a message are shown in full', () => {
  const long = 'word '.repeat(30_000);
  const turn = (...content: readonly object[]) => ({
    type: 'turn.ended',
    message: { role: 'assistant', content },
  });
  const first = { type: 'reasoning', text: `a ${long}` };
  const answer = { type: 'text', text: `b ${long}` };
  expect(lastEntry([turn(first, answer)])).toEqual({
    title: 'Answer',
    sections: [{ kind: 'markdown', text: answer.text }],
  });
  const [thought] = lastEntry([turn(answer, first)]).sections;
  expect(thought?.kind === 'text' && thought.lines.join('').length).toBe(first.text.length);
  const spec = {
    prompt: 'Look',
    enclosed: [{ kind: 'file', name: 'a', outcome: '', text: 'all' }],
  };
  expect(lastEntry([{ type: 'task.created', spec }])).toEqual({
    title: 'Message',
    sections: [
      { kind: 'text', lines: ['Look'] },
      { kind: 'heading', text: '@a' },
      { kind: 'text', lines: ['all'] },
    ],
  });
});
