import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  lastUserText,
  toolResultRounds,
  type Answer,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { expectNothingLeft, expectStopped, finishedSoon, reach } from './ending.ts';
import { needs } from '../needs.ts';
import { BIN } from './muster.ts';
import { findMarked, waitForMarked } from './processes.ts';
import { bash, callsInTurn, exitStatus, openWorld, type World } from './world.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';

interface Moment {
  readonly script?: (request: RecordedRequest) => Answer;
  /** Resolves when the moment has come. */
  readonly reached: (world: World) => Promise<unknown>;
  readonly env?: Readonly<Record<string, string>>;
}

/** Waits until a command of the run is at work: more processes than Muster alone. */
function commandsRun(atLeast: number): Moment['reached'] {
  return (world) => waitForMarked(world.mark, (pids) => pids.length > atLeast);
}

function firstRequest(world: World): Promise<unknown> {
  return world.model.received(1);
}

/** Waits until a command of the run has written a file: it is past what comes before. */
async function fileWritten({ sandbox }: World): Promise<void> {
  await waitUntilPasses(() => {
    expect(existsSync(join(sandbox.workspace, 'begun'))).toBe(true);
  });
}

const MOMENTS: Readonly<Record<string, Moment>> = {
  'while it connects': { script: () => ({ fault: { kind: 'hang' } }), reached: firstRequest },
  'while headers come without end': {
    script: () => ({ fault: { kind: 'slow_headers' } }),
    reached: firstRequest,
  },
  'while the answer streams': {
    script: () => ({ text: 'many words '.repeat(500), chunks: 500, chunkMs: 200 }),
    reached: firstRequest,
  },
  'while it waits to try again': {
    script: () => ({ fault: { kind: 'status', status: 503, retryAfterSeconds: 60 } }),
    reached: async (world) => (await world.model.received(1)).ended,
  },
  'while it waits for a rate limit': {
    script: () => ({ fault: { kind: 'status', status: 429, retryAfterSeconds: 60 } }),
    reached: async (world) => (await world.model.received(1)).ended,
  },
  'in the middle of a command': {
    script: callsInTurn([bash('sleep 60')]),
    reached: commandsRun(1),
  },
  'in the middle of several commands with their own children': {
    script: callsInTurn([bash('sleep 60 & sleep 61 | cat & wait'), bash('sleep 62')]),
    reached: commandsRun(3),
  },
  'in the middle of a command that does not obey': {
    script: callsInTurn([bash("trap '' TERM INT HUP; touch begun; while :; do sleep 1; done")]),
    reached: fileWritten,
  },
  'while a command has left its group': {
    script: callsInTurn([bash('setsid sleep 60 & sleep 61')]),
    reached: commandsRun(3),
  },
  'while a command has left its group and does not obey': {
    script: callsInTurn([
      bash('setsid bash -c "trap \'\' TERM INT HUP; touch begun; sleep 60; sleep 61" & wait'),
    ]),
    reached: fileWritten,
  },
  'while eight children run commands': {
    script: (request) => {
      if (toolResultRounds(request) > 0) return { text: 'done' };
      if (lastUserText(request).startsWith('part')) return { toolCalls: [bash('sleep 60')] };
      return {
        toolCalls: Array.from({ length: 8 }, (_, n) => ({
          name: 'Task',
          input: { prompt: `part ${n}`, subagent_type: 'general-purpose' },
        })),
      };
    },
    reached: commandsRun(8),
  },
  'while eight children stream': {
    script: (request) => {
      if (lastUserText(request).startsWith('part')) {
        return { text: 'many words '.repeat(500), chunks: 500, chunkMs: 200 };
      }
      return {
        toolCalls: Array.from({ length: 8 }, (_, n) => ({
          name: 'Task',
          input: { prompt: `part ${n}`, subagent_type: 'Explore' },
        })),
      };
    },
    reached: (world) => world.model.received(9),
  },
};

const HAS_SANDBOX = process.platform === 'linux' && needs('bwrap', 'bubblewrap');

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
const SIGNAL_NAMES = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

const CASES = Object.entries(MOMENTS).map(([name, moment], index) => {
  return { name, moment, signal: SIGNAL_NAMES[index % SIGNAL_NAMES.length] ?? 'SIGINT' };
});

describe.concurrent('a signal', () => {
  it.each(CASES)('$signal $name ends all of it', async ({ name, moment, signal }) => {
    // In the sandbox of the system what has left its group ends with the rest of it.
    const escapes = name.includes('left its group') && HAS_SANDBOX;
    const status = name.includes('does not obey') && !escapes ? 'killed' : 'stopped';
    const { script, env = {} } = moment;
    await using world = await openWorld(script === undefined ? {} : { script });
    const running = world.start(['-p', 'go', '--allow', 'Bash'], { env });
    await reach(running, moment.reached(world));
    process.kill(running.pid, signal);
    const run = await finishedSoon(running.finished);
    expectNothingLeft(world);
    expect(exitStatus(run)).toBe(SIGNALS[signal]);
    // What had come of an answer is kept, and nothing else is printed.
    expect(run.stdout).toMatch(/^(many words *)*\n?$/);
    // A long wait is told, and nothing else.
    const lines = run.stderr
      .split('\n')
      .filter((line) => !/^… main: (?:.*; again in |waiting for the rate limit )/.test(line));
    expect(lines).toEqual([`muster: ${status}: CANCELLED: ${signal} ended it`, '']);
    await expectStopped(world, status);
  });

  it.each(SIGNAL_NAMES)('%s before the first request ends it', async (signal) => {
    for (const delayMs of [20, 60, 100, 160]) {
      await using world = await openWorld({ script: () => ({ fault: { kind: 'hang' } }) });
      const running = world.start(['-p', 'go']);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      process.kill(running.pid, signal);
      const run = await finishedSoon(running.finished);
      expectNothingLeft(world);
      expect(exitStatus(run)).toBe(SIGNALS[signal]);
      expect(run.stderr).toMatch(/^(muster: stopped: CANCELLED: SIG[A-Z]+ ended it\n)?$/);
    }
  });

  it('that comes a second time ends the run at once, even if something does not obey', async () => {
    await using world = await openWorld({
      script: callsInTurn([bash("trap '' TERM INT HUP; while :; do sleep 1; done")]),
    });
    const running = world.start(['-p', 'go', '--allow', 'Bash']);
    await reach(running, commandsRun(2)(world));
    process.kill(running.pid, 'SIGINT');
    await waitForMarked(world.mark, (pids) => pids.length > 0);
    process.kill(running.pid, 'SIGTERM');
    const run = await finishedSoon(running.finished);
    expect([run.code, run.stdout]).toEqual([143, '']);
    await waitForMarked(world.mark, (pids) => pids.length === 0);
  });

  it('reaches the commands of a run that leads a whole group, as Ctrl+C does', async () => {
    await using world = await openWorld({ script: callsInTurn([bash('sleep 60')]) });
    const child = spawn(process.execPath, [BIN, '-p', 'go', '--allow', 'Bash'], {
      cwd: world.sandbox.workspace,
      env: world.sandbox.environment(world.model.env('anthropic')),
      stdio: 'ignore',
      detached: true,
    });
    const exited = once(child, 'exit');
    await waitForMarked(world.mark, (pids) => pids.length > 1);
    process.kill(-(child.pid ?? 0), 'SIGINT');
    expect(await exited).toEqual([130, null]);
    expectNothingLeft(world);
  });

  it('leaves the processes of another run alone', async () => {
    await using world = await openWorld({ script: callsInTurn([bash('sleep 60')]) });
    await using other = await openWorld({ script: callsInTurn([bash('sleep 60')]) });
    const running = world.start(['-p', 'go', '--allow', 'Bash']);
    const others = other.start(['-p', 'go', '--allow', 'Bash']);
    await reach(running, commandsRun(1)(world));
    await reach(others, commandsRun(1)(other));
    // The log tells of the command before its process exists.
    await waitUntilPasses(() => expect(findMarked(other.mark).length).toBeGreaterThan(1));
    process.kill(running.pid, 'SIGINT');
    await finishedSoon(running.finished);
    expectNothingLeft(world);
    expect(findMarked(other.mark).length).toBeGreaterThan(1);
    process.kill(others.pid, 'SIGINT');
    await finishedSoon(others.finished);
    expectNothingLeft(other);
  });
});
