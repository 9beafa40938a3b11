import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeModel, type FakeModel } from '../../src/testing/index.ts';
import { BIN, Sandbox, type Finished } from '../e2e/muster.ts';
import { World } from '../e2e/world.ts';
import type { KillMoment, MomentKind } from './kill-plan.ts';
import { leftoversOf, watchSweep } from './sweep.ts';
import { after, countChanges, countLines, countTokens, killAt, Signal } from './signals.ts';
import { standingOf, type Standing } from './standing.ts';
import { MAIN, promptOf, WORKSPACE } from './scenario.ts';
import { answerTree, WORKER_FILE } from './tree-script.ts';

/** One process of a run, from its start to its end or its kill. */
export interface Stretch {
  readonly pid: number;
  readonly finished: Finished;
  /** How much of each there was of it. */
  readonly seen: Readonly<Record<MomentKind, number>>;
  /** Where the run stood when the process was killed; null: it ended by itself. */
  readonly killedAt: Standing | null;
  /** What of the processes before it was still there 10 s after it began. */
  readonly unswept: readonly string[];
}

export interface TreeRun extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly model: FakeModel;
  readonly stretches: readonly Stretch[];
  /** Processes that were there when the last one had ended. */
  readonly left: readonly number[];
}

export interface TreeRunOptions {
  readonly kills: readonly KillMoment[];
  /** The program to run. Default: the built one. */
  readonly bin?: string;
  /**
   * Whether its commands are confined: what is confined dies with Muster, so that only without it a
   * process is left behind. Default: false.
   */
  readonly isConfined?: boolean;
}

/** No process of a run takes so long: it hangs. */
const PATIENCE_MS = 120_000;

const START = ['-p', promptOf(MAIN), '--permission-mode', 'autonomous', '--allow', 'Bash'];
const GO_ON = ['--continue', '--allow', 'Bash'];
const EVENTS = ['--output-format', 'stream-json'];

/**
 * Runs the tree in a sandbox of its own and kills its processes with -9 at these moments, one after
 * another; each is followed by `--continue` until the run is complete. Only Muster itself is killed:
 * its shells live on, where they are not confined.
 */
export async function runTree({
  kills,
  bin = BIN,
  isConfined = false,
}: TreeRunOptions): Promise<TreeRun> {
  const received = new Signal();
  const model = await startFakeModel({ script: answerTree, onReceived: received.come });
  const world = new World(newSandbox({ isConfined }), model, {});
  const { sandbox } = world;
  const stretches: Stretch[] = [];
  try {
    for (let isOver = false; !isOver;) {
      const args = stretches.length === 0 ? START : GO_ON;
      const moment = kills[stretches.length] ?? null;
      const stretch = await runStretch({ world, bin, received }, [...args, ...EVENTS], moment);
      stretches.push(stretch);
      const standing = stretch.killedAt;
      isOver = standing === null || standing.has('nothing written') || standing.has('ended');
    }
  } catch (thrown) {
    await world[Symbol.asyncDispose]();
    throw thrown;
  }
  return {
    sandbox,
    model,
    stretches,
    left: leftoversOf(sandbox).pids,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

function newSandbox({ isConfined }: { readonly isConfined: boolean }): Sandbox {
  const sandbox = new Sandbox(WORKSPACE);
  const config = join(sandbox.home, '.config/muster');
  const agents = join(config, 'agents');
  mkdirSync(agents, { recursive: true });
  const kind = isConfined ? 'auto' : 'off';
  writeFileSync(join(config, 'config.toml'), `[sandbox]\nkind = "${kind}"\n`);
  writeFileSync(join(agents, 'general-purpose.md'), WORKER_FILE);
  // Made before, so that it can be watched from the start.
  mkdirSync(logsOf(sandbox), { recursive: true, mode: 0o700 });
  return sandbox;
}

export function logsOf(sandbox: Sandbox): string {
  return join(sandbox.data, 'tasks');
}

interface Place {
  readonly world: World;
  readonly bin: string;
  /** Requests, by the model. */
  readonly received: Signal;
}

async function runStretch(
  { world, bin, received }: Place,
  args: readonly string[],
  moment: KillMoment | null,
): Promise<Stretch> {
  const { sandbox } = world;
  const before = leftoversOf(sandbox);
  const startedAt = performance.now();
  const running = world.start(args, { bin });
  const sweep = watchSweep(sandbox, before, running.finished);
  const kill = (): void => void running.process.kill('SIGKILL');
  const signals = {
    line: new Signal(),
    log: new Signal(),
    effect: new Signal(),
    request: received,
  };
  const forget = [
    ...killAt(moment, kill, signals),
    after(PATIENCE_MS, kill),
    countLines(running, signals.line),
    countChanges(logsOf(sandbox), signals.log),
    countTokens(sandbox, signals.effect),
  ];
  const finished = await running.finished;
  const time = performance.now() - startedAt;
  for (const end of forget) end();
  const unswept = await sweep;
  const { line, log, effect, request } = signals;
  return {
    pid: running.pid,
    finished,
    seen: {
      time,
      line: line.count,
      log: log.count,
      effect: effect.count,
      request: request.count,
    },
    killedAt: finished.signal === 'SIGKILL' ? await standingOf(sandbox) : null,
    unswept: time < PATIENCE_MS ? unswept : [...unswept, `it hung for ${PATIENCE_MS / 1000} s`],
  };
}
