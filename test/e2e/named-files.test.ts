import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemErrorCode } from '../../src/base/errors.ts';
import { lastUserText, type RecordedRequest } from '../../src/testing/index.ts';
import type { Running, Sandbox } from './muster.ts';
import { findMarked } from './processes.ts';
import { clean, complaint, family, tasks } from './tasks.ts';
import { exitStatus, openWorld, type World } from './world.ts';

const TEMPLATE = '---\nname: count\ndescription: Counts.\n---\nItem <<{{item}}>>';
const RUN = ['run', 'count', '--trust-project', '--json'];
const AGENTS = '{"namer":{"description":"Names things.","prompt":"Name things."}}';

function withTemplate(): Promise<World> {
  const files = { '.muster/templates/count.md': TEMPLATE, 'items.txt': 'a\nb\n' };
  return openWorld({ files, script: () => ({ text: 'fine' }) });
}

function itemOf(request: RecordedRequest): string {
  return /<<([\s\S]*)>>/.exec(lastUserText(request))?.[1] ?? '';
}

function pipeIn({ workspace }: Sandbox, name = 'pipe'): string {
  const path = join(workspace, name);
  execFileSync('mkfifo', [path]);
  return path;
}

/** Writes when somebody reads; ends with the test, whoever reads. */
function writeTo(pipe: string, text: string): void {
  const writer = spawn('/bin/sh', ['-c', 'printf %s "$1" > "$2"', 'sh', text, pipe]);
  onTestFinished(async () => {
    if (writer.exitCode !== null || writer.signalCode !== null) return;
    writer.kill('SIGKILL');
    await once(writer, 'exit');
  });
}

/** Resolves with a writer that says nothing, once the program has the pipe open. */
async function readerOf(pipe: string, { process: child }: Running): Promise<number> {
  while (child.exitCode === null) {
    try {
      return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (thrown) {
      // Nobody has it open to read.
      if (systemErrorCode(thrown) !== 'ENXIO') throw thrown;
      await sleep(20);
    }
  }
  throw new Error(`it ended with ${child.exitCode}, and did not read ${pipe}`);
}

describe.concurrent('items in a pipe', () => {
  it('are read to the end, however late they come', async () => {
    await using world = await withTemplate();
    const pipe = pipeIn(world.sandbox);
    const running = world.start([...RUN, '--items', pipe]);
    const writer = await readerOf(pipe, running);
    writeSync(writer, 'a\nb\n');
    await sleep(100);
    writeSync(writer, 'c\n');
    closeSync(writer);
    const run = await running.finished;
    expect([run.code, world.model.requests.map(itemOf).toSorted()]).toEqual([0, ['a', 'b', 'c']]);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('are waited for until %s', async (signal) => {
    await using world = await withTemplate();
    const pipe = pipeIn(world.sandbox);
    const running = world.start([...RUN, '--items', pipe]);
    const writer = await readerOf(pipe, running);
    running.process.kill(signal);
    const run = await running.finished;
    closeSync(writer);
    const status = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }[signal];
    expect([exitStatus(run), run.stdout, run.stderr]).toEqual([status, '', '']);
    expect([findMarked(world.mark), clean(await tasks(world, 'list', '--all'))]).toEqual([
      [],
      'No tasks yet.\n',
    ]);
    expect(readdirSync(world.sandbox.workspace).toSorted()).toEqual(
      ['.muster', 'items.txt', 'pipe'].toSorted(),
    );
  });

  it('of stdin are waited for until SIGTERM, too', async () => {
    await using world = await withTemplate();
    const running = world.start([...RUN, '--items', '-', '--verbose'], { stdin: { open: true } });
    // It listens to signals from before it reads; a signal before that ends it all the same.
    while (!readdirSync(world.sandbox.root).includes('data')) await sleep(20);
    running.process.kill('SIGTERM');
    expect(exitStatus(await running.finished)).toBe(143);
  });
});

describe('a pipe', () => {
  it('may hold agents, a prompt, or exported tasks', async () => {
    await using world = await withTemplate();
    const pipe = pipeIn(world.sandbox);
    writeTo(pipe, AGENTS);
    const run = await world.run(['-p', 'x', '--agents', `@${pipe}`, '--agent', 'namer']);
    expect([run.code, run.stdout]).toEqual([0, 'fine\n']);

    writeTo(pipe, 'Name things.\n');
    const wish = ['--description', 'Names things. Use it when a thing lacks a name.'];
    const made = await world.run(['agents', 'new', 'a', ...wish, '--prompt-file', 'pipe']);
    expect([made.code, made.stderr]).toEqual([0, '']);
    const file = join(world.sandbox.workspace, '.muster/agents/a.md');
    expect(readFileSync(file, 'utf8')).toContain('\nName things.\n');

    const { root } = await family(world);
    writeTo(pipe, clean(await tasks(world, 'export', root)));
    const env = { MUSTER_DATA_DIR: join(world.sandbox.root, 'other') };
    const taken = await world.run(['tasks', 'import', 'pipe'], { env });
    expect([taken.code, taken.stdout]).toEqual([0, `${root}\n`]);
  });
});

/** What is no file, and how it is told. */
const NO_FILES = {
  directory: 'is a directory, and not a file',
  socket: 'is a socket, and not a file',
  '/dev/zero': 'is a device, and not a file',
  broken: 'is a link to something that does not exist',
} as const;

async function makeNoFiles({ workspace }: Sandbox): Promise<void> {
  mkdirSync(join(workspace, 'directory'));
  symlinkSync('nowhere', join(workspace, 'broken'));
  const server = createServer();
  server.listen(join(workspace, 'socket'));
  await once(server, 'listening');
  onTestFinished(async () => {
    server.close();
    await once(server, 'close');
  });
}

describe('what is no file', () => {
  it.each<readonly [readonly string[], string, number]>([
    [[...RUN, '--items'], '', 2],
    [['-p', 'x', '--agents'], '@', 2],
    [['agents', 'new', 'a', '--prompt-file'], '', 2],
    [['tasks', 'import'], '', 1],
  ])('is told as what it is: %j', async (args, mark, code) => {
    await using world = await withTemplate();
    await makeNoFiles(world.sandbox);
    for (const [path, told] of Object.entries(NO_FILES)) {
      const run = await world.run([...args, `${mark}${path}`]);
      expect(complaint(run, code)).toContain(`${path} ${told}`);
    }
    expect(world.model.requests).toEqual([]);
  });

  it('is not written to, and nothing is paid for before that is told', async () => {
    await using world = await withTemplate();
    const { workspace } = world.sandbox;
    await makeNoFiles(world.sandbox);
    const pipe = pipeIn(world.sandbox);
    symlinkSync(pipe, join(workspace, 'link'));
    const { broken: _, ...others } = NO_FILES;
    const kinds = Object.entries({
      ...others,
      pipe: 'is a FIFO (named pipe), and not a file',
      link: 'is a FIFO (named pipe), and not a file',
    });
    for (const [path, told] of kinds) {
      const run = await world.run([...RUN, '--items', 'items.txt', '--force', '--out', path]);
      expect(complaint(run, 2)).toMatch(new RegExp(`^--out .*${escaped(`${path} ${told}`)}$`));
    }
    const taken = await world.run([...RUN, '--items', 'items.txt', '--out', 'broken']);
    expect(complaint(taken, 2)).toMatch(/broken exists; --force replaces it$/);
    expect(world.model.requests).toEqual([]);

    const { code } = await world.run([
      ...RUN,
      '--items',
      'items.txt',
      '--out',
      'broken',
      '--force',
    ]);
    expect([code, lstatSync(join(workspace, 'broken')).isFile()]).toEqual([0, true]);
    const { root } = await family(world);
    for (const [path, told] of kinds) {
      for (const args of [
        ['show', root, '--html', path],
        ['export', root, path],
      ]) {
        expect(complaint(await tasks(world, ...args, '--force'))).toContain(`${path} ${told}`);
      }
    }
    expect([statSync(pipe).isFIFO(), statSync('/dev/zero').isCharacterDevice()]).toEqual([
      true,
      true,
    ]);
  });
});

function escaped(text: string): string {
  return text.replaceAll(/[()]/g, String.raw`\$&`);
}
