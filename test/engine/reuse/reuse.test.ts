import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ScriptedCall } from '../../scripted-model.ts';
import { call, calls, eventsOfType } from '../play.ts';
import { delegate, looks, SCOUT, scout, workspace, type Place } from './support.ts';

const FILES = {
  'a.ts': 'export const a = 1;\n',
  'b.ts': 'export const b = 2;\n',
  'lib/c.ts': 'export const c = 3;\n',
};

const READ = call('Read', { file_path: 'a.ts' });

describe('the same delegation again', () => {
  it('gets the earlier result without a request', async () => {
    const place = workspace(FILES);
    const script = { look: looks(READ, call('LS', {}), call('Grep', { pattern: 'const' })) };
    const first = await delegate(place, script);
    expect(first.state.reused).toBeNull();
    expect(first.requests).toHaveLength(4);
    const second = await delegate(place, script);
    const reused = { of: first.state.spec.id, at: first.state.endedAt };
    expect(second.requests).toEqual([]);
    expect(second.state).toMatchObject({
      status: 'completed',
      result: 'It is so.',
      turns: 0,
      ledger: [],
      costUsd: 0,
      reused,
      end: { because: `the result of task ${reused.of} was reused` },
    });
    const at = new Date(reused.at ?? 0).toISOString();
    expect(second.texts[0]).toMatch(/^It is so\.\n\n\[task /);
    expect(second.texts[0]).toContain(
      `reused: the result of task ${reused.of} of ${at}; all that it read is the same · 0 turns · 0 tool calls · 0 tokens`,
    );
    expect([...second.state.filesRead.values()]).toEqual([...first.state.filesRead.values()]);
  });

  it('reports the reuse in the result line and the receipt', async () => {
    const place = workspace(FILES);
    const first = await delegate(place, { look: looks(READ) });
    const { test, state } = await delegate(place, { look: looks(READ) });
    const run = test.engine.task(state.spec.id);
    expect(run).toBeUndefined();
    const { buildResultEnvelope: resultEnvelope } =
      await import('../../../src/engine/results/result.ts');
    const { data, status } = resultEnvelope(state, { transcript: null, outputFile: null });
    const { endedAt, spec } = first.state;
    expect(status).toBe('success');
    expect(data.reused).toEqual({
      task_id: spec.id,
      at: new Date(endedAt ?? 0).toISOString(),
    });
    expect(data.usage).toEqual({ input: 0, output: 0, cache_read: 0, cache_write: 0 });
    expect(data.receipt.reused).toEqual({ task: spec.id, at: endedAt });
    expect(place.store.list().find(({ id }) => id === state.spec.id)?.reused).toBe(spec.id);
  });

  it('reuses the original result, however often', async () => {
    const place = workspace(FILES);
    const { state } = await delegate(place, { look: looks(READ) });
    await delegate(place, { look: looks(READ) });
    const third = await delegate(place, { look: looks(READ) });
    expect(third.state.reused?.of).toBe(state.spec.id);
  });

  it('is reported once in the background', async () => {
    const place = workspace(FILES);
    const main = [calls(scout('look', { run_in_background: true }))];
    await delegate(place, { look: looks(READ) }, { main });
    const { requests, state, test } = await delegate(place, { look: looks(READ) }, { main });
    expect(requests).toEqual([]);
    const told = JSON.stringify(test.model.requests.at(-1)?.messages);
    expect(told.split('It is so.')).toHaveLength(2);
    expect(eventsOfType(test, 'child.ended')).toMatchObject([
      { child: state.spec.id, status: 'completed', spent: { tokens: 0, costUsd: 0 } },
    ]);
  });

  it('runs twice if both calls are in one message', async () => {
    const place = workspace(FILES);
    const main = [calls(scout('look'), scout('look'))];
    const look = looks(READ).map((answer) => Object.assign(answer, { delayMs: 5 }));
    const { requests } = await delegate(place, { look }, { main });
    expect(requests).toHaveLength(4);
  });
});

interface Change {
  readonly what: string;
  readonly reads: readonly ScriptedCall[];
  readonly change: (place: Place) => void;
}

const gone = (path: string) => (place: Place) => fs.rmSync(join(place.root, path));
const written =
  (path: string, text = 'new\n') =>
  (place: Place): void =>
    place.write(path, text);

describe('after a change', () => {
  it.each<Change>([
    { what: 'a file that it read', reads: [READ], change: written('a.ts') },
    {
      what: 'another part of a file that it read in part',
      reads: [call('Read', { file_path: 'a.ts', offset: 1, limit: 1 })],
      change: written('a.ts', 'export const a = 1;\nmore\n'),
    },
    { what: 'a file that is gone', reads: [READ], change: gone('a.ts') },
    {
      what: 'a file that did not exist',
      reads: [call('Read', { file_path: 'd.ts' })],
      change: written('d.ts'),
    },
    { what: 'an entry of a listing', reads: [call('LS', {})], change: written('d.ts') },
    {
      what: 'the size of a file in a listing',
      reads: [call('LS', {})],
      change: written('a.ts', 'x'),
    },
    {
      what: 'a file that a search for names finds',
      reads: [call('Glob', { pattern: '**/*.ts' })],
      change: written('lib/d.ts'),
    },
    {
      what: 'a line that a search finds',
      reads: [call('Grep', { pattern: 'const', output_mode: 'content' })],
      change: written('lib/c.ts', 'const c = 4;\n'),
    },
    {
      what: 'a search that found nothing',
      reads: [call('Grep', { pattern: 'nothing' })],
      change: written('lib/d.ts', 'nothing\n'),
    },
    {
      what: 'the last of many reads',
      reads: [READ, call('LS', { path: 'lib' }), call('Read', { file_path: 'b.ts' })],
      change: written('b.ts'),
    },
    {
      what: 'a file that lists ignored files',
      reads: [call('Glob', { pattern: '*.ts' })],
      change: (place) => {
        fs.mkdirSync(join(place.root, '.git'));
        place.write('.gitignore', 'b.ts\n');
      },
    },
  ])('of $what the task is run', async ({ reads, change }) => {
    const place = workspace(FILES);
    await delegate(place, { look: looks(...reads) });
    change(place);
    const { requests, state } = await delegate(place, { look: looks(...reads) });
    expect(requests).toHaveLength(reads.length + 1);
    expect(state.reused).toBeNull();
    const third = await delegate(place, { look: looks(...reads) });
    expect(third.state.reused?.of).toBe(state.spec.id);
  });

  it.each<Change>([
    { what: 'another file', reads: [READ], change: written('b.ts') },
    {
      what: 'the file that was written again with the same content',
      reads: [READ],
      change: written('a.ts', FILES['a.ts']),
    },
    {
      what: 'a file below a listed directory',
      reads: [call('LS', {})],
      change: written('lib/d.ts'),
    },
    {
      what: 'lines that a search does not match',
      reads: [call('Grep', { pattern: 'const', output_mode: 'content' })],
      change: written('lib/c.ts', `${FILES['lib/c.ts']}more\n`),
    },
    {
      what: 'content of a file that was searched for by name',
      reads: [call('Glob', { pattern: '*.ts' })],
      change: written('b.ts'),
    },
    { what: 'anything, for a task that read nothing', reads: [], change: written('a.ts') },
    {
      what: 'what notes do not look at',
      reads: [
        call('TodoWrite', { todos: [{ content: 'look', status: 'pending' }] }),
        call('Notify', { message: 'looking' }),
      ],
      change: written('a.ts'),
    },
  ])('of $what the result is reused', async ({ reads, change }) => {
    const place = workspace(FILES);
    const first = await delegate(place, { look: looks(...reads) });
    change(place);
    const { requests, state } = await delegate(place, { look: looks(...reads) });
    expect(requests).toEqual([]);
    expect(state.reused?.of).toBe(first.state.spec.id);
  });

  it('and its reversal an older result is used again', async () => {
    const place = workspace(FILES);
    const first = await delegate(place, { look: looks(READ) });
    place.write('a.ts', 'new\n');
    const second = await delegate(place, { look: looks(READ) });
    place.write('a.ts', FILES['a.ts']);
    const third = await delegate(place, { look: looks(READ) });
    expect(third.state.reused?.of).toBe(first.state.spec.id);
    expect(second.state.reused).toBeNull();
  });

  it('the log of the task that is run gives the reason', async () => {
    const place = workspace(FILES);
    const first = await delegate(place, { look: looks(READ) });
    place.write('a.ts', 'new\n');
    const { test } = await delegate(place, { look: looks(READ) });
    expect(eventsOfType(first.test, 'reuse.missed')).toMatchObject([
      { because: 'no earlier task had the same inputs' },
    ]);
    expect(eventsOfType(test, 'reuse.missed')).toMatchObject([
      {
        because: `task ${first.state.spec.id} made a call of Read that gives something else now: {"file_path":"a.ts"}`,
      },
    ]);
  });
});

describe('the settings that allow reuse', () => {
  it.each([
    { config: false, definition: undefined, reused: false },
    { config: true, definition: undefined, reused: true },
    { config: false, definition: true, reused: true },
    { config: true, definition: false, reused: false },
  ])('task_tool.cache $config, definition $definition: $reused', async (each) => {
    const place = workspace(FILES);
    const { config, definition, reused } = each;
    const agents = [{ ...SCOUT, ...(definition === undefined ? {} : { cache: definition }) }];
    const setup = { settings: { reusesResults: config }, agents };
    await delegate(place, { look: looks(READ) }, setup);
    const { state, test } = await delegate(place, { look: looks(READ) }, setup);
    expect(state.reused !== null).toBe(reused);
    const looked =
      eventsOfType(test, 'reuse.missed').length + eventsOfType(test, 'task.reused').length;
    expect(looked).toBe(reused ? 1 : 0);
  });
});
