import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from '../src/base/errors.ts';
import { VERSION } from '../src/base/version.ts';
import { killAllProcesses } from '../src/sys/processes/process-group.ts';
import { removeTree } from './copy-tree.ts';
import { createChecker } from './judge.ts';
import { MUSTER } from './muster.ts';
import type { RunCommand } from './options.ts';
import { forEachInParallel } from './parallel.ts';
import {
  agentEnvironment,
  endEarlierPrograms,
  preparePlace,
  REPOSITORY,
  type Place,
} from './place.ts';
import { planRuns } from './plan.ts';
import { readCommandLine } from './processes.ts';
import { renderReport } from './report.ts';
import {
  appendResult,
  readResults,
  readSettings,
  SETTING_NAMES,
  writeSettings,
  type RunResult,
  type Settings,
} from './results.ts';
import { runTask, type RunContext } from './run-task.ts';
import { playerConfig, readScript, SCRIPTED_MODEL, startPlayer } from './scripted/player.ts';
import { findMissingPrograms, hashDirectories, hashText, selectTasks } from './selection.ts';
import { StoppedBySignal, stopOnSignals } from './stop-on-signals.ts';
import type { EvalTask } from './tasks.ts';

/** Runs what has no result yet, and writes the report. Returns 1 if runs are without a verdict. */
export async function evaluate(command: RunCommand): Promise<number> {
  if (!existsSync(MUSTER)) throw new UsageError(`${MUSTER} is missing: npm run build makes it`);
  const tasks = selectTasks(command.selection);
  const { runnable, skipped } = splitByPrograms(tasks);
  const out = resolve(command.out ?? defaultOut(command.model));
  const settings: Settings = {
    model: command.model,
    version: VERSION,
    build: hashDirectories([{ name: 'dist', directory: dirname(MUSTER) }]),
    tasks: hashDirectories(tasks),
    config: command.config === null ? 'none' : hashText(readFileSync(command.config, 'utf8')),
  };
  mkdirSync(out, { recursive: true });
  using _lock = lockDirectory(out);
  continueSettings(out, settings);
  const place = preparePlace(out);
  await endEarlierPrograms(place);
  const stop = new AbortController();
  using _signals = stopOnSignals(stop);
  await using model = await prepareModel(command, place, runnable);
  const checker = await createChecker(place);
  if (!checker.isSandboxed) {
    process.stderr.write('There is no sandbox: the hidden checks run without one.\n');
  }
  const runs = planRuns(runnable, command.variants);
  const context: RunContext = {
    place,
    checker,
    model: model.name,
    flags: command.maxCostUsd === null ? [] : ['--max-cost-usd', String(command.maxCostUsd)],
    env: { ...agentEnvironment(place), ...model.env },
    agentSeconds: command.maxSeconds,
    runs,
    signal: stop.signal,
  };
  try {
    await runMissing(context, stop, command.jobs);
  } catch (thrown) {
    if (!(thrown instanceof StoppedBySignal)) throw thrown;
    await killAllProcesses();
    return thrown.exitCode;
  }
  const results = readResults(out);
  const planned = runs.flatMap(({ id }) => results.get(id) ?? []);
  const missing = runs.length - planned.length;
  const report = renderReport({
    settings,
    results: planned,
    missing,
    skipped,
    isSandboxed: checker.isSandboxed,
  });
  writeFileSync(join(out, 'report.md'), report);
  process.stdout.write(`${report}\nResults: ${join(out, 'results.jsonl')}\n`);
  removeTree(place.work);
  return missing === 0 && planned.every(({ outcome }) => outcome === 'judged') ? 0 : 1;
}

function defaultOut(model: string): string {
  return join(REPOSITORY, '.eval', model.replaceAll(/[^A-Za-z0-9._-]+/g, '-'));
}

function splitByPrograms(tasks: readonly EvalTask[]) {
  const looked = tasks.map((task) => ({ task, programs: findMissingPrograms(task) }));
  return {
    runnable: looked.filter(({ programs }) => programs.length === 0).map(({ task }) => task),
    skipped: looked
      .filter(({ programs }) => programs.length > 0)
      .map(({ task, programs }) => ({ task: task.name, programs })),
  };
}

/** Refuses to mix results of different models, versions or tasks in one directory. */
function continueSettings(out: string, settings: Settings): void {
  const earlier = readSettings(out);
  if (earlier === null) {
    writeSettings(out, settings);
    return;
  }
  for (const key of SETTING_NAMES) {
    if (earlier[key] === settings[key]) continue;
    throw new UsageError(
      `${out} holds results with ${key} ${earlier[key]}, and this would be ${settings[key]}: choose another directory with --out`,
    );
  }
}

/** Prevents that two processes write to one directory. The lock of a process that was killed does not count. */
function lockDirectory(out: string): Disposable {
  const file = join(out, 'runner.pid');
  const other = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  if (other > 0 && other !== process.pid && isRunner(other)) {
    throw new UsageError(`process ${other} is at work in ${out}`);
  }
  writeFileSync(file, String(process.pid));
  return { [Symbol.dispose]: () => rmSync(file, { force: true }) };
}

/** Tells whether a process is a runner of evaluations. Its id may belong to another program by now. */
function isRunner(pid: number): boolean {
  return readCommandLine(pid).includes('eval/run.ts');
}

interface PreparedModel extends AsyncDisposable {
  /** The model as `muster --model` takes it. */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
}

async function prepareModel(
  { model, config, script }: RunCommand,
  { agentHome }: Place,
  tasks: readonly EvalTask[],
): Promise<PreparedModel> {
  const directory = join(agentHome, '.config', 'muster');
  const file = join(directory, 'config.toml');
  mkdirSync(directory, { recursive: true });
  rmSync(file, { force: true });
  if (model !== 'scripted') {
    if (config !== null) copyFileSync(config, file);
    return { name: model, env: {}, [Symbol.asyncDispose]: async () => {} };
  }
  const server = await startPlayer(tasks, script === null ? {} : readScript(script));
  writeFileSync(file, playerConfig(server.url));
  return {
    name: SCRIPTED_MODEL,
    env: { SCRIPTED_KEY: 'none' },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

async function runMissing(context: RunContext, stop: AbortController, jobs: number): Promise<void> {
  const { runs } = context;
  const { out } = context.place;
  const earlier = readResults(out);
  const open = runs.filter(({ id }) => earlier.get(id)?.outcome !== 'judged');
  if (open.length < runs.length) {
    process.stderr.write(`${runs.length - open.length} of ${runs.length} runs are done already.\n`);
  }
  let done = runs.length - open.length;
  await forEachInParallel(open, jobs, async (run) => {
    try {
      const result = await runTask(run, context);
      appendResult(out, result);
      done += 1;
      process.stderr.write(`${done}/${runs.length} ${run.id}: ${describe(result)}\n`);
    } catch (thrown) {
      stop.abort(thrown);
      await killAllProcesses();
      throw thrown;
    }
  });
}

function describe({ outcome, solved, turns, seconds, reason }: RunResult): string {
  const verdict = outcome === 'error' ? 'failed' : solved ? 'solved' : 'not solved';
  const why = reason === null ? '' : ` (${reason})`;
  return `${verdict}, ${turns} turns, ${seconds.toFixed(1)} s${why}`;
}
