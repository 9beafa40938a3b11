import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Checkers } from '../../src/languages/checkers.ts';
import { startServerProgram } from '../../src/sys/processes/server-process.ts';

let directory = '';
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'muster-checkers-')));
});
afterEach(() => rmSync(directory, { recursive: true }));

const ENV = { PATH: '/usr/bin:/bin' };

function createCheckers(command: string, commandSeconds = 60): Checkers {
  return new Checkers({
    commands: [command],
    commandSeconds,
    start: ({ argv: [file, ...args], cwd }) =>
      Promise.resolve(startServerProgram({ file, args, cwd, env: ENV })),
  });
}

function createCall() {
  return {
    cwd: directory,
    roots: [directory],
    signal: new AbortController().signal,
    isReadable: () => true,
  };
}

/** Changes a file between two runs of the checkers. Returns the new problems. */
async function change(checkers: Checkers, before: string, after: string) {
  const path = join(directory, 'a.sh');
  writeFileSync(path, before);
  const prepared = await checkers.prepare(createCall());
  writeFileSync(path, after);
  return await prepared.findNewProblems();
}

describe('a checker', () => {
  it('reports the problems that were not there before', async () => {
    const checkers = createCheckers('grep -n bad a.sh | sed "s/^/a.sh:/; s/:bad/: error: bad/"');
    expect(await change(checkers, 'bad 1\n', 'ok\nbad 1\nbad 2\n')).toEqual({
      files: [
        {
          path: join(directory, 'a.sh'),
          source: expect.stringContaining('grep'),
          problems: [expect.objectContaining({ line: 3, severity: 'error', message: 'bad 2' })],
        },
      ],
      notes: [],
    });
  });

  it('that fails without a place is reported with its output if it did not fail before', async () => {
    const checkers = createCheckers('! grep bad a.sh');
    expect(await change(checkers, 'ok\n', 'bad luck\n')).toEqual({
      files: [],
      notes: ['! grep bad a.sh fails now: bad luck'],
    });
    expect(await change(checkers, 'bad luck\n', 'bad thing\n')).toEqual({ files: [], notes: [] });
  });

  it('that does not end is ended with its processes, and the limit is named', async () => {
    const checkers = createCheckers('sleep 1000 & sleep 1000', 0.2);
    const { notes } = await change(checkers, '', 'x\n');
    expect(notes).toEqual([
      'sleep 1000 & sleep 1000 did not check the change: it did not end within code.command_seconds = 0.2.',
    ]);
  });

  it('that prints without end is ended', async () => {
    const { notes } = await change(createCheckers('yes'), '', 'x\n');
    expect(notes).toEqual(['yes did not check the change: it printed more than 4 MB.']);
  });

  it('is ended with its processes when Muster is closed', async () => {
    const checkers = createCheckers('echo $$ > pid; sleep 1000 & sleep 1000');
    const prepared = checkers.prepare(createCall());
    const pid = join(directory, 'pid');
    while (!existsSync(pid)) await nextTurn();
    await checkers.close();
    expect(existsSync(`/proc/${readFileSync(pid, 'utf8').trim()}`)).toBe(false);
    expect((await (await prepared).findNewProblems()).files).toEqual([]);
  });

  it('runs once for all changes that wait for it', async () => {
    const checkers = createCheckers('echo run >> runs; sleep 0.1');
    const prepared = await checkers.prepare(createCall());
    await Promise.all(Array.from({ length: 12 }, () => prepared.findNewProblems()));
    const runs = readFileSync(join(directory, 'runs'), 'utf8').trim().split('\n');
    // One before the change, one for the first, and one for all that came while it ran.
    expect(runs.length).toBeLessThanOrEqual(3);
  });
});
