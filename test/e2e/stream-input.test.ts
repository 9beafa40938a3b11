import { describe, expect, it } from 'vitest';
import { lastUserText, toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import type { Running } from './muster.ts';
import { clean, delegate, delegating, tasks } from './tasks.ts';
import { bash, openWorld } from './world.ts';

const STREAM = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json'];

interface Line {
  readonly type: string;
  readonly task?: string;
  readonly seq?: number;
  readonly line?: number;
  readonly error?: { readonly code: string; readonly message: string };
  readonly data?: { readonly result: string; readonly status: string; readonly task_id: string };
  readonly question?: { readonly id: string };
}

/** A program that talks to Muster over stdin and stdout. */
function talk(running: Running) {
  const lines = (): readonly Line[] =>
    running
      .output()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  return {
    lines,
    write: (...values: readonly unknown[]) =>
      running.process.stdin?.write(values.map((each) => `${JSON.stringify(each)}\n`).join('')),
    /** Waits for the line number `count` of a type. */
    async next(type: string, count = 1): Promise<Line> {
      const found = () => lines().filter((line) => line.type === type)[count - 1];
      await waitUntilPasses(() => expect(found()).toBeDefined());
      return found() ?? { type: 'none' };
    },
    async end() {
      running.process.stdin?.end();
      return running.finished;
    },
  };
}

const answers = (lines: readonly Line[]) =>
  lines.flatMap(({ type, data }) => (type === 'result' ? [[data?.status, data?.result]] : []));
const echo = (request: RecordedRequest) => ({ text: `answer to ${lastUserText(request)}` });

describe('--input-format stream-json', () => {
  it('continues one conversation with each message, and ends with its input', async () => {
    await using world = await openWorld({ script: echo });
    const program = talk(world.start(STREAM, { stdin: { open: true } }));
    program.write({ type: 'user', text: 'one' });
    const first = await program.next('result');
    program.write({ type: 'user', message: { role: 'user', content: 'two' } });
    await program.next('result', 2);
    const ended = await program.end();
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    expect(answers(program.lines())).toEqual([
      ['completed', 'answer to one'],
      ['completed', 'answer to two'],
    ]);
    const ids = new Set(program.lines().flatMap(({ task }) => task ?? []));
    expect([...ids]).toEqual([first.data?.task_id]);
  });

  it('reads lines that are there before it starts, in their order', async () => {
    await using world = await openWorld({ script: echo });
    const stdin = `{"type":"user","text":"one"}\n\n{"type":"user","text":"two"}`;
    const run = await world.run(STREAM, { stdin });
    expect(run.code).toBe(0);
    const said = world.model.requests.at(-1)?.messages.filter(({ role }) => role === 'user');
    expect(said?.map(({ text }) => text).join(' ')).toMatch(/one[^]*two/);
  });

  it('starts as an agent that is named, and resumes a conversation', async () => {
    const agent = '---\nname: greeter\ndescription: greets\n---\nYou greet.\n';
    await using world = await openWorld({
      files: { '.muster/agents/greeter.md': agent },
      script: echo,
    });
    const named = [...STREAM, '--trust-project', '--agent', 'greeter'];
    const first = await world.run(named, { stdin: '{"type":"user","text":"one"}' });
    const [created, result] = [
      first.stdout.split('\n')[0] ?? '',
      first.stdout.trimEnd().split('\n').at(-1) ?? '',
    ];
    expect(JSON.parse(created)).toMatchObject({ spec: { agent: { name: 'greeter' } } });
    const id = JSON.parse(result).data.task_id;
    const second = await world.run([...STREAM, '--trust-project', '--resume', id], {
      stdin: '{"type":"user","text":"two"}',
    });
    expect(JSON.parse(second.stdout.trimEnd().split('\n').at(-1) ?? '').data).toMatchObject({
      task_id: id,
      result: 'answer to two',
    });
  });

  it('ends when it is told to by a signal, while it waits for a message', async () => {
    await using world = await openWorld({ script: echo });
    const running = world.start(STREAM, { stdin: { open: true } });
    const program = talk(running);
    program.write({ type: 'user', text: 'one' });
    await program.next('result');
    running.process.kill('SIGTERM');
    expect((await running.finished).code).toBe(143);
  });

  it('sends a message to a task at work', async () => {
    await using world = await openWorld({
      files: { 'wait.sh': 'until test -e go; do sleep 0.05; done\n' },
      bare: true,
      script: (request) =>
        toolResultRounds(request) === 0
          ? { toolCalls: [bash('sh wait.sh')] }
          : { text: request.messages.map(({ text }) => text).join(' ') },
    });
    const program = talk(world.start(STREAM, { stdin: { open: true } }));
    program.write({ type: 'user', text: 'wait for it' });
    await program.next('call.started');
    program.write({ type: 'user', text: 'leave the tests alone' });
    await program.next('input.queued');
    world.sandbox.write('go', '');
    await program.next('result');
    await program.end();
    expect(answers(program.lines())).toEqual([
      ['completed', expect.stringContaining('leave the tests alone')],
    ]);
  });

  it('interrupts the work, after which another message continues', async () => {
    await using world = await openWorld({
      bare: true,
      script: (request) =>
        lastUserText(request).includes('again')
          ? { text: 'done' }
          : { toolCalls: [bash('sleep 60')] },
    });
    const program = talk(world.start(STREAM, { stdin: { open: true } }));
    program.write({ type: 'user', text: 'sleep' });
    await program.next('call.started');
    program.write({ type: 'interrupt' });
    await program.next('result');
    program.write({ type: 'user', text: 'again' });
    await program.next('result', 2);
    const ended = await program.end();
    expect([ended.code, answers(program.lines()).map(([status]) => status)]).toEqual([
      0,
      ['stopped', 'completed'],
    ]);
  });

  it('answers questions, and refuses those that are open when the input ends', async () => {
    await using world = await openWorld({
      script: (request) =>
        toolResultRounds(request) < 2
          ? { toolCalls: [bash(`touch made-${toolResultRounds(request)}`)] }
          : { text: 'done' },
    });
    const program = talk(world.start(STREAM, { stdin: { open: true } }));
    program.write({ type: 'user', text: 'make two files' });
    const asked = await program.next('question.asked');
    program.write({ type: 'answer', question: asked.question?.id, text: 'perhaps' });
    await program.next('error');
    program.write({ type: 'answer', question: asked.question?.id, text: 'yes' });
    await program.next('question.asked', 2);
    const ended = await program.end();
    expect(ended.code).toBe(0);
    const results = world.model.requests.at(-1)?.messages.flatMap(({ toolResults }) => toolResults);
    expect(results?.map(({ text }) => text)).toEqual([
      expect.stringContaining('exit'),
      expect.stringContaining('the input has ended, so nobody can answer'),
    ]);
    expect(program.lines().filter(({ type }) => type === 'error')).toEqual([
      {
        type: 'error',
        line: 2,
        error: {
          code: 'INVALID_PARAM',
          message: expect.stringContaining('"perhaps" is not a valid answer'),
          retryable: false,
        },
      },
    ]);
  });

  it('reports each line that cannot be used, and goes on', async () => {
    await using world = await openWorld({ script: echo });
    const long = JSON.stringify({ type: 'user', text: 'x'.repeat(10_000_000) });
    const lines = [
      '{"type":"interrupt"}',
      'no json',
      long,
      '{"type":"user","text":"one"}',
      '{"type":"answer","question":"none","text":"yes"}',
      '{"type":"user","text":"/no-such-command"}',
    ];
    const run = await world.run(STREAM, { stdin: lines.join('\n') });
    expect(run.code).toBe(0);
    const printed: readonly Line[] = clean(run)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers(printed)).toEqual([['completed', 'answer to one']]);
    const errors = printed.filter(({ type }) => type === 'error');
    expect(errors.map(({ line, error }) => [line, error?.code, error?.message])).toEqual([
      [1, 'NOT_FOUND', 'there is no work to interrupt'],
      [2, 'INVALID_PARAM', expect.stringContaining('the line is not JSON')],
      [3, 'INVALID_PARAM', 'the line is longer than the limit of 10000000 bytes'],
      [5, 'NOT_FOUND', 'no question none waits in this process'],
      [6, 'INVALID_PARAM', expect.stringContaining('no-such-command')],
    ]);
  });

  it('refuses what does not go together, and an input without a message', async () => {
    await using world = await openWorld();
    const refused = async (args: readonly string[], stdin = '') => {
      const { code, stdout, stderr } = await world.run(args, { stdin });
      return [code, stdout, stderr];
    };
    const input = ['--input-format', 'stream-json'];
    expect(await refused(STREAM)).toEqual([2, '', expect.stringContaining('no message: stdin')]);
    expect(await refused(['-p', ...input])).toEqual([
      2,
      '',
      expect.stringContaining('needs --output-format stream-json'),
    ]);
    expect(await refused([...STREAM.slice(1), 'hello', '-p'])).toEqual([
      2,
      '',
      expect.stringContaining('write the prompt there'),
    ]);
    expect(await refused([...STREAM, '--continue'])).toEqual([
      2,
      '',
      expect.stringContaining('no message: stdin'),
    ]);
  });
});

describe('muster tasks watch --from', () => {
  it('gives the events from a number on, so that a reader can continue where it stopped', async () => {
    await using world = await openWorld({ script: echo });
    const run = await world.run(STREAM, { stdin: '{"type":"user","text":"one"}\n' });
    const all = clean(run).trimEnd().split('\n');
    const id = JSON.parse(all[0] ?? '').task;
    for (const from of [0, 2]) {
      const watched = clean(await tasks(world, 'watch', id, '--json', '--from', String(from)));
      const events = watched.trimEnd().split('\n');
      expect(events.slice(0, -1)).toEqual(all.slice(from, -1));
      expect(JSON.parse(events.at(-1) ?? '')).toMatchObject({ type: 'result' });
    }
    expect(await tasks(world, 'watch', '--from', '2')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--from counts the events of one task'),
    });
  });

  it('gives the events that tasks below it have written since then', async () => {
    await using world = await openWorld({
      script: delegating([delegate('part 1'), delegate('part 2')], () => ({ text: 'done' })),
    });
    const run = await world.run(STREAM, { stdin: '{"type":"user","text":"go"}\n' });
    const all = clean(run).trimEnd().split('\n').slice(0, -1);
    const { task: id } = JSON.parse(all[0] ?? '');
    const from = all.findIndex((line) => JSON.parse(line).type === 'child.created');
    const { seq } = JSON.parse(all[from] ?? '');
    const watched = clean(await tasks(world, 'watch', id, '--json', '--from', String(seq)));
    const events = watched.trimEnd().split('\n').slice(0, -1);
    expect(events.toSorted()).toEqual(all.slice(from).toSorted());
  });
});
