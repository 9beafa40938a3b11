import { expect, it } from 'vitest';
import { TaskSearch } from '../../../src/front/web/task-search.ts';
import type { TaskRow } from '../../../src/front/web/wire.ts';
import { MusterError } from '../../../src/base/errors.ts';
import type { TaskEvent } from '../../../src/protocol/events/event.ts';

const { signal } = new AbortController();

function row(id: string, title: string, ended: number | null = 1): TaskRow {
  return { id, title, ended } as TaskRow;
}

/** Logs that count how often each is read. */
function logs(texts: Readonly<Record<string, { prompt: string; result: string } | null>>) {
  const reads: string[] = [];
  return {
    reads,
    async *events(id: string): AsyncGenerator<TaskEvent, void, undefined> {
      reads.push(id);
      const found = texts[id];
      if (!found) throw new MusterError('NOT_FOUND', 'it was deleted');
      yield { type: 'task.created', spec: { prompt: found.prompt } } as TaskEvent;
      yield { type: 'task.ended', result: found.result } as TaskEvent;
    },
  };
}

it('finds ids, titles, prompts and results, whatever their case and white space', async () => {
  const tasks = logs({
    a: { prompt: 'Fix the\n  Parser (now)', result: '' },
    b: { prompt: '', result: `${'x'.repeat(100)} the parser (now) is fixed` },
    c: { prompt: 'other', result: 'other' },
    d: null,
  });
  const rows = [
    row('the parser', ''),
    row('e', 'The PARSER'),
    ...'abcd'.split('').map((id) => row(id, '')),
  ];
  const search = new TaskSearch(tasks);
  const { hits, note } = await search.find(' the  parser', rows, signal);
  expect(hits.map(({ id, where, match }) => [id, where, match])).toEqual([
    ['the parser', 'id', 'the parser'],
    ['e', 'title', 'The PARSER'],
    ['a', 'prompt', 'the Parser'],
    ['b', 'result', 'the parser'],
  ]);
  expect(hits.at(-1)).toMatchObject({ before: `${'x'.repeat(79)} `, after: ' (now) is fixed' });
  expect(note).toBeNull();
  expect((await search.find('parser (NOW)', rows, signal)).hits).toHaveLength(2);
});

it('reads the log of a task that has ended once, and that of a task at work each time', async () => {
  const tasks = logs({ a: { prompt: 'x', result: '' }, b: { prompt: 'x', result: '' } });
  const search = new TaskSearch(tasks);
  for (const _ of [1, 2]) await search.find('x', [row('a', ''), row('b', '', null)], signal);
  expect(tasks.reads).toEqual(['a', 'b', 'b']);
});

it('keeps what it has room for, and nothing of tasks that are gone', async () => {
  const [prompt, result] = ['x'.repeat(10), ''];
  const tasks = logs({ a: { prompt, result }, b: { prompt, result }, c: { prompt, result } });
  const search = new TaskSearch(tasks, { maxKeptLength: 20 });
  const find = async (ids: string): Promise<readonly string[]> => {
    tasks.reads.length = 0;
    await search.find(
      'y',
      Array.from(ids, (id) => row(id, '')),
      signal,
    );
    return [...tasks.reads];
  };
  await Promise.all([find('a'), find('a'), find('a')]);
  expect(await find('ab')).toEqual(['b']);
  expect(await find('ab')).toEqual([]);
  expect(await find('b')).toEqual([]);
  expect(await find('ab')).toEqual(['a']);
  expect(await find('abc')).toEqual(['c']);
  // The oldest one had to go.
  expect(await find('abc')).toEqual(['b']);
});

it('says how many tasks it had no time to read, and reads on at the next search', async () => {
  const tasks = logs({ a: { prompt: 'x', result: '' } });
  const rows = [row('a', '')];
  expect(await new TaskSearch(tasks, { readMs: -1 }).find('x', rows, signal)).toEqual({
    hits: [],
    note: 'the texts of 1 task were not searched yet; search again',
  });
  expect((await new TaskSearch(tasks).find('', rows, signal)).hits).toEqual([]);
});

it('says that there are more tasks than it shows', async () => {
  const rows = Array.from({ length: 120 }, (_, at) => row(`t${at}`, 'x'));
  const { hits, note } = await new TaskSearch(logs({})).find('x', rows, signal);
  expect([hits.length, note]).toEqual([100, 'only the 100 newest tasks that were found are shown']);
});
