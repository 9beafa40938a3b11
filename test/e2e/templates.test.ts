import { existsSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withoutNonce } from '../nonce.ts';
import {
  lastUserText,
  toolResultRounds,
  type Answer,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { lastResults, openWorld, type World } from './world.ts';

const TEMPLATE = `---
name: count
description: Counts.
---
Item {{index}} of {{count}}: <<{{item}}>>`;

/** What stands between the marks of the template in the prompt of a request. */
function itemOf(request: RecordedRequest): string {
  return /<<([\s\S]*)>>/.exec(lastUserText(request))?.[1] ?? '';
}

function itemsAsked({ model }: World): readonly string[] {
  return model.requests.map(itemOf);
}

interface Row {
  readonly index: number;
  readonly item: unknown;
  readonly status: string;
  readonly task_id: string | null;
  readonly result: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly warnings: readonly string[];
}

function rowsOf(text: string): readonly Row[] {
  return JSON.parse(text).items;
}

function withTemplate(script: (request: RecordedRequest) => Answer) {
  return openWorld({ files: { '.muster/templates/count.md': TEMPLATE }, script });
}

const TRUST = ['--trust-project'];

describe.concurrent('muster run', () => {
  it('continues with 500 items after a kill at 200, and runs none of the 200 again', async () => {
    const items = Array.from({ length: 500 }, (_, index) => `item-${index}`);
    let answered = 0;
    let isResumed = false;
    await using world = await withTemplate((request) => {
      if (!isResumed && answered >= 200) return { fault: { kind: 'hang' } };
      answered += 1;
      return { text: `did ${itemOf(request)}` };
    });
    const file = world.sandbox.write('items.txt', `${items.join('\n')}\n`);
    const first = world.start(['run', 'count', '--items', file, ...TRUST]);
    let told = '';
    first.process.stderr?.on('data', (text: string) => void (told += text));
    while (!told.includes('[200/500]')) await once(first.process.stderr ?? first.process, 'data');
    first.process.kill('SIGKILL');
    await first.finished;
    const done = new Set([...told.matchAll(/completed: (item-\d+) /g)].map(([, item]) => item));
    expect(done.size).toBe(200);

    isResumed = true;
    const before = world.model.requests.length;
    world.sandbox.write('items.txt', `${items.with(499, 'another').join('\n')}\n`);
    const second = await world.run(['run', '--continue', '--json', ...TRUST]);
    expect([second.code, second.signal]).toEqual([0, null]);
    expect(second.stderr).toContain(
      'items.txt have changed since the run began: 1 of them. The run continues',
    );
    const again = itemsAsked(world).slice(before);
    expect(again.filter((item) => done.has(item))).toEqual([]);
    expect(again.toSorted()).toEqual(items.filter((item) => !done.has(item)).toSorted());
    const rows = rowsOf(second.stdout);
    expect(rows.map(({ item, status, result }) => [item, status, result])).toEqual(
      items.map((item) => [item, 'completed', `did ${item}`]),
    );
    expect(new Set(rows.map(({ task_id }) => task_id)).size).toBe(500);
    expect(await logCount(world)).toBe(501);
  });

  it('runs each item once, whatever its text is, and expands nothing in it', async () => {
    const items = [
      'two\nlines',
      '"quotes" and, commas',
      '{{item}} {{index}} {{nothing}}',
      '',
      'same',
      'same',
      'x'.repeat(1_000_000),
      '=1+1',
      { text: '{{count}}' },
    ];
    await using world = await withTemplate(() => ({ text: '=cmd()\nmore' }));
    world.sandbox.write('items.json', JSON.stringify(items));
    const args = ['run', 'count', '--items', 'items.json', '--out', 'out.csv', ...TRUST];
    const run = await world.run(args);
    expect([run.code, run.stdout]).toEqual([0, '']);
    const texts = items.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
    expect(itemsAsked(world).toSorted()).toEqual(texts.toSorted());
    const csv = readFileSync(join(world.sandbox.workspace, 'out.csv'), 'utf8');
    const records = parseCsv(csv);
    expect(records.map((record) => record.length)).toEqual(items.map(() => 19).concat(19));
    expect(records.slice(1).map((record) => [record[1], record[2], record[8]])).toEqual(
      texts.map((text) => [text.startsWith('=') ? `'${text}` : text, 'completed', "'=cmd()"]),
    );
  });

  it('shows the flags of an item, as it ends and in the table', async () => {
    await using world = await withTemplate(() => ({ text: 'I fixed it. All tests pass.' }));
    world.sandbox.write('items.txt', 'a\n');
    const start = ['run', 'count', '--items', 'items.txt', ...TRUST];
    const text = await world.run(start);
    const flag = 'The task made no tool call';
    expect(text.stderr).toContain(`  ! ${flag}\n`);
    expect(text.stdout).toContain(`\n! 1: ${flag}\n`);
    const json = await world.run([...start, '--json']);
    expect(rowsOf(json.stdout).map(({ warnings }) => warnings)).toEqual([[flag]]);
  });

  it('runs failed items again only when asked to, and exits with 1 until none has failed', async () => {
    let isMended = false;
    await using world = await withTemplate((request) =>
      !isMended && itemOf(request) === 'b'
        ? { fault: { kind: 'status', status: 400 } }
        : { text: 'fine' },
    );
    world.sandbox.write('items.txt', 'a\nb\nc\n');
    const first = await world.run(['run', 'count', '--items', 'items.txt', '--json', ...TRUST]);
    expect(first.code).toBe(1);
    expect(rowsOf(first.stdout).map(({ status }) => status)).toEqual([
      'completed',
      'failed',
      'completed',
    ]);
    expect(first.stderr).toContain('PROVIDER_ERROR: 3 items: 2 completed, 1 failed');
    isMended = true;
    const before = world.model.requests.length;
    const second = await world.run(['run', '--continue', ...TRUST]);
    expect([second.code, world.model.requests.length]).toEqual([1, before]);
    const third = await world.run(['run', '--continue', '--retry-failed', '--json', ...TRUST]);
    expect([third.code, itemsAsked(world).slice(before)]).toEqual([0, ['b']]);
    expect(rowsOf(third.stdout).map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'completed',
    ]);
  });

  it('stops everything at SIGINT with 130, and continues with the stopped items', async () => {
    let isResumed = false;
    await using world = await withTemplate((request) =>
      isResumed || itemOf(request) === 'a' ? { text: 'fine' } : { fault: { kind: 'hang' } },
    );
    world.sandbox.write('items.txt', 'a\nb\nc\n');
    const env = { MUSTER_TASK_TOOL_MAX_PARALLEL: '2' };
    const first = world.start(['run', 'count', '--items', 'items.txt', '--json', ...TRUST], {
      env,
    });
    await world.model.received(3);
    first.process.kill('SIGINT');
    const stopped = await first.finished;
    expect(stopped.code).toBe(130);
    expect(rowsOf(stopped.stdout).map(({ status }) => status)).toEqual([
      'completed',
      'stopped',
      'stopped',
    ]);
    isResumed = true;
    const again = await world.run(['run', 'count', '--items', 'items.txt', ...TRUST]);
    expect(again.stderr).toMatch(/the run \w+ of count was not finished, and this is a new one/);
    const id = /the run (\w+) of/.exec(again.stderr)?.[1] ?? '';
    const before = world.model.requests.length;
    const goneOn = await world.run(['run', '--continue', id, '--json', ...TRUST]);
    expect([goneOn.code, world.model.requests.length]).toEqual([0, before + 2]);
    expect(rowsOf(goneOn.stdout).map(({ task_id }) => task_id)).toEqual(
      rowsOf(stopped.stdout).map(({ task_id }) => task_id),
    );
  });

  it('takes the files that a glob matches, ignored ones left out, and items from stdin', async () => {
    await using world = await withTemplate(() => ({ text: 'fine' }));
    for (const name of ['src/a.ts', 'src/b.ts', 'src/c.js', 'out/d.ts'])
      world.sandbox.write(name, '');
    world.sandbox.write('.ignore', 'out/\n');
    const glob = await world.run(['run', 'count', '--items', '**/*.ts', ...TRUST]);
    expect([glob.code, itemsAsked(world).toSorted()]).toEqual([0, ['src/a.ts', 'src/b.ts']]);
    const stdin = '{"path":"a"}\n{"path":"b"}\n';
    const piped = await world.run(['run', 'COUNT', '--items', '-', ...TRUST], { stdin });
    expect([piped.code, itemsAsked(world).slice(2).toSorted()]).toEqual([
      0,
      ['{"path":"a"}', '{"path":"b"}'],
    ]);
  });

  it('starts no further items once the budget is used up, says so, and exits with 3', async () => {
    await using world = await withTemplate(() => ({
      text: 'fine',
      usage: { input: 1_000, output: 10 },
    }));
    world.sandbox.write('items.txt', Array.from({ length: 40 }, (_, at) => `i${at}`).join('\n'));
    const env = { MUSTER_TASK_TOOL_MAX_PARALLEL: '1', MUSTER_BUDGET_TREE_TURNS: '5' };
    const args = ['run', 'count', '--items', 'items.txt', '--json', ...TRUST];
    const run = await world.run(args, { env });
    expect([run.code, world.model.requests.length]).toEqual([3, 5]);
    expect(run.stderr).toContain('LIMIT_EXCEEDED: the limit tree_turns = 5 is reached');
    const waiting = rowsOf(run.stdout).filter(({ status }) => status === 'waiting');
    expect(waiting.length).toBe(35);
  });

  it('runs more items than max_tasks, and no template that nobody has trusted', async () => {
    await using world = await withTemplate(() => ({ text: 'fine' }));
    world.sandbox.write('items.txt', 'a\nb\nc\n');
    const args = ['run', 'count', '--items', 'items.txt', '--max-tasks', '1'];
    const refused = await world.run(args);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('there is no template count; nearest first:');
    expect(refused.stderr).toContain('1 file of this project was not used');
    const run = await world.run([...args, ...TRUST]);
    expect([run.code, world.model.requests.length]).toEqual([0, 3]);
    expect(existsSync(join(world.sandbox.workspace, 'out.csv'))).toBe(false);
  });
});

async function logCount(world: World): Promise<number> {
  const { stdout } = await world.run(['tasks', 'list', '--all', '--json']);
  return JSON.parse(stdout).length;
}

/** RFC 4180, by the letter. */
function parseCsv(text: string): readonly (readonly string[])[] {
  const records: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g,
  )) {
    if (quoted === undefined && plain === '' && end === '') break;
    records.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === '\r\n') records.push([]);
  }
  return records.filter((record) => record.length > 0);
}

describe.concurrent('RunTemplate', () => {
  const items = ['a', 'b', { path: 'c' }];

  it('gives the main agent a table of its items, each a task of its own', async () => {
    await using world = await withTemplate((request) => {
      const item = itemOf(request);
      if (item === 'b') return { fault: { kind: 'status', status: 400 } };
      if (item !== '') return { text: `did ${item}\nmore` };
      const input = { template: 'count', items };
      return toolResultRounds(request) === 0
        ? { toolCalls: [{ name: 'RunTemplate', input }] }
        : { text: 'done' };
    });
    const run = await world.run(['-p', 'go', ...TRUST]);
    expect([run.code, run.stdout]).toEqual([0, 'done\n']);
    const [result] = lastResults(world.model);
    const nothing = '0 tool calls, no files changed, no commands, no refusals';
    const lines = withoutNonce(result?.text ?? '').split('\n');
    expect(
      lines.filter((line) => /^\d/.test(line)).map((line) => line.replace(/task \w+/, 'task ID')),
    ).toEqual([
      `1. task ID · completed · 1 turn · ${nothing} · The task made no tool call · did a more`,
      expect.stringContaining(`2. task ID · failed · 0 turns · ${nothing} · PROVIDER_ERROR: `),
      `3. task ID · completed · 1 turn · ${nothing} · The task made no tool call · did {"path":"c"} more`,
    ]);
    expect(await logCount(world)).toBe(4);
  });

  it('is offered if the project or the user has templates and tasks may be created', async () => {
    await using world = await withTemplate(() => ({ text: 'done' }));
    await world.run(['-p', 'go']);
    await world.run(['-p', 'go', ...TRUST]);
    await world.run(['-p', 'go', '--deny', 'Task', ...TRUST]);
    await world.run(['-p', 'go', ...TRUST], { env: { MUSTER_TASK_TOOL_ENABLED: 'false' } });
    const offered = world.model.requests.map(({ tools }) =>
      tools.some(({ name }) => name === 'RunTemplate'),
    );
    expect(offered).toEqual([false, true, false, false]);
  });

  it('is decided like the delegations that it leads to', async () => {
    await using world = await withTemplate((request) => {
      const input = { template: 'count', items };
      return toolResultRounds(request) === 0
        ? { toolCalls: [{ name: 'RunTemplate', input }] }
        : { text: 'done' };
    });
    await world.run(['-p', 'go', '--deny', 'Task(general-purpose)', ...TRUST]);
    expect([world.model.requests.length, lastResults(world.model)[0]?.text]).toEqual([
      2,
      expect.stringContaining('Task(general-purpose)'),
    ]);
  });
});

describe.concurrent('an item that asks a person', () => {
  it('parks with the run, and continues with the answer', async () => {
    await using world = await withTemplate((request) =>
      itemOf(request) === 'b' && toolResultRounds(request) === 0
        ? { toolCalls: [{ name: 'Write', input: { file_path: 'b.txt', content: 'b' } }] }
        : { text: 'fine' },
    );
    world.sandbox.write('items.txt', 'a\nb\nc\n');
    const args = ['run', 'count', '--items', 'items.txt', '--on-ask', 'park', '--json', ...TRUST];
    const parked = await world.run(args);
    expect([parked.code, rowsOf(parked.stdout).map(({ status }) => status)]).toEqual([
      5,
      ['completed', 'parked', 'completed'],
    ]);
    const question = /muster tasks answer (\w+)/.exec(parked.stderr)?.[1] ?? '';
    const answered = await world.run(['tasks', 'answer', question, 'yes', ...TRUST]);
    expect([answered.code, answered.stdout]).toEqual([0, '3 items: 3 completed.\n']);
    expect(readFileSync(join(world.sandbox.workspace, 'b.txt'), 'utf8')).toBe('b');
    const told = await world.run(['run', '--continue', '--json', ...TRUST]);
    expect([told.code, world.model.requests.length]).toEqual([0, 4]);
  });

  it('is not a conversation that takes messages', async () => {
    await using world = await withTemplate(() => ({ text: 'fine' }));
    await world.run(['run', 'count', '--items', '-', ...TRUST], { stdin: 'a\n' });
    const listed: readonly { readonly id: string; readonly parent: string | null }[] = JSON.parse(
      (await world.run(['tasks', 'list', '--json'])).stdout,
    );
    const id = listed.find(({ parent }) => parent === null)?.id ?? '';
    const said = await world.run(['tasks', 'send', id, 'hello', ...TRUST]);
    expect([said.code, said.stderr]).toEqual([
      1,
      `muster: INVALID_PARAM: task ${id} is a run of a template: only its tasks read messages\n`,
    ]);
    const asked = await world.run(['--continue', '-p', 'hello']);
    expect(asked.stderr).toContain('no conversation of this directory');
  });
});
