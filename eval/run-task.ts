import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { errorMessage } from '../src/base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../src/base/json.ts';
import { sanitizeLine } from '../src/base/terminal-text.ts';
import { UnusableTreeError } from './copy-tree.ts';
import { copyForJudging, judge, type Checker } from './judge.ts';
import { isMachineError } from './machine-errors.ts';
import { denyRules, MUSTER, NO_USAGE, readUsage, type Usage } from './muster.ts';
import { prepareRun, removeCopies, type Place, type RunPlace } from './place.ts';
import type { PlannedRun } from './plan.ts';
import { runBounded, type ProgramEnd } from './processes.ts';
import type { RunResult } from './results.ts';
import type { EndStatus } from '../src/protocol/result.ts';

/** What all runs of an evaluation share. */
export interface RunContext {
  readonly place: Place;
  readonly checker: Checker;
  readonly model: string;
  /** Further flags for the agent, such as `--max-cost-usd`. */
  readonly flags: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The highest wall time of an agent in seconds; null: that of each task. */
  readonly agentSeconds: number | null;
  /** All planned runs. */
  readonly runs: readonly PlannedRun[];
  /** Aborts when the evaluation stops. What an agent has left by then is no result. */
  readonly signal: AbortSignal;
}

/** The time that Muster has to end by itself after its limit, before it is killed. */
const GRACE_MS = 60_000;

/**
 * Runs the agent on a task as a user would, and judges what it left. What keeps a run from being judged becomes its
 * result, so that the others go on. Rejects when the evaluation stops, and if the machine has failed.
 */
export async function runTask(run: PlannedRun, context: RunContext): Promise<RunResult> {
  try {
    return await runAndJudge(run, context);
  } catch (thrown) {
    context.signal.throwIfAborted();
    if (isMachineError(thrown)) throw thrown;
    return createResult(run, { failure: `the run broke: ${errorMessage(thrown)}` });
  }
}

async function runAndJudge(run: PlannedRun, context: RunContext): Promise<RunResult> {
  const { task } = run;
  const runPlace = prepareRun(context.place, run.id);
  const { kept, repo } = runPlace;
  createRepository(join(task.directory, 'repo'), repo);
  const end = await runAgent(run, context, runPlace);
  context.signal.throwIfAborted();
  const events = readEvents(join(kept, 'events.jsonl'));
  const envelope = events.find(({ type }) => type === 'result') ?? null;
  writeFileSync(join(kept, 'stderr.txt'), end.output);
  writeJson(join(kept, 'result.json'), envelope);
  const unusable = await copyAndCompare(run, runPlace);
  context.signal.throwIfAborted();
  const failure = describeFailure(end, envelope);
  const verdict =
    failure !== null
      ? NOT_JUDGED
      : (unusable ?? (await runHiddenCheck(run, context.checker, runPlace)));
  context.signal.throwIfAborted();
  removeCopies(runPlace);
  return createResult(run, {
    failure,
    verdict,
    status: readStatus(envelope),
    ms: end.ms,
    usage: readUsage(join(kept, 'data'), context.env),
    receipt: summarizeReceipt(envelope, repo),
  });
}

/** What is known about a run. Default: nothing. */
interface RunOutcome {
  /** Why the run could not be judged; null if it was. */
  readonly failure: string | null;
  readonly verdict?: Verdict;
  readonly status?: string | null;
  readonly ms?: number;
  readonly usage?: Usage;
  readonly receipt?: RunResult['receipt'];
}

function createResult(
  { id, task, delegation, shape }: PlannedRun,
  { failure, verdict = NOT_JUDGED, status = null, ms = 0, usage, receipt }: RunOutcome,
): RunResult {
  const reason = failure ?? verdict.reason;
  return {
    id,
    task: task.name,
    language: task.language,
    kind: task.kind,
    delegation,
    shape,
    solved: verdict.exitCode === 0,
    outcome: failure === null ? 'judged' : 'error',
    status,
    // It may contain what a server or an agent has written.
    reason: reason === null ? null : sanitizeLine(reason).slice(0, MAX_REASON),
    seconds: Math.round(ms) / 1000,
    checkExitCode: verdict.exitCode,
    ...(usage ?? NO_USAGE),
    receipt: receipt ?? { filesChanged: [], commands: 0, refusals: 0 },
  };
}

/** The maximum length of the reason why a run was not solved. */
const MAX_REASON = 500;

/** Copies the repository of a task into a git repository with one commit. */
function createRepository(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  const identity = ['-c', 'user.name=Eval', '-c', 'user.email=eval@example.test'];
  const commands = [
    ['init', '-q', '-b', 'main'],
    ['add', '-A', '-f'],
    [...identity, 'commit', '-q', '-m', 'Initial state'],
  ];
  for (const args of commands) {
    const { status, stderr } = spawnSync('git', args, { cwd: to, env: GIT_ENV, encoding: 'utf8' });
    if (status !== 0) throw new Error(`git ${args.join(' ')} ended with ${status}: ${stderr}`);
  }
}

/** No configuration of the user changes what git does. */
const GIT_ENV: NodeJS.ProcessEnv = {
  PATH: process.env['PATH'],
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

/** The time that the comparison of two trees may take. */
const DIFF_MS = 60_000;

/**
 * Makes the clean copy of what the agent left, and keeps its differences from the repository of the task. Returns the
 * verdict if the tree cannot be judged.
 */
async function copyAndCompare(
  { task }: PlannedRun,
  { kept, repo, judged }: RunPlace,
): Promise<Verdict | null> {
  try {
    copyForJudging(task, { tree: repo, judged });
  } catch (thrown) {
    if (!(thrown instanceof UnusableTreeError)) throw thrown;
    return { exitCode: null, reason: errorMessage(thrown) };
  }
  // The agent's own repository is not in the copy. Its settings could run programs.
  await runBounded({
    argv: ['git', 'diff', '--no-index', '--no-ext-diff', '--no-textconv', '--', 'repo', judged],
    cwd: task.directory,
    env: GIT_ENV,
    timeoutMs: DIFF_MS,
    stdoutFile: join(kept, 'changes.patch'),
  });
  return null;
}

async function runAgent(
  { id, task, delegation, shape }: PlannedRun,
  { place, model, flags, env, agentSeconds, runs }: RunContext,
  { kept, repo }: RunPlace,
): Promise<ProgramEnd> {
  const seconds = Math.min(task.agentSeconds, agentSeconds ?? Infinity);
  const data = join(kept, 'data');
  mkdirSync(data, { recursive: true });
  const siblings = runs.filter((other) => other.task === task && other.id !== id);
  const rules = denyRules(place, {
    tasks: dirname(task.directory),
    siblings: siblings.map((other) => join(place.work, other.id)),
  });
  const denied = rules.flatMap((rule) => ['--deny', rule]);
  return runBounded({
    argv: [
      process.execPath,
      MUSTER,
      '--print',
      task.prompt,
      `--model=${model}`,
      '--output-format=stream-json',
      '--permission-mode=autonomous',
      `--data-dir=${data}`,
      `--max-seconds=${seconds}`,
      ...denied,
      ...flags,
    ],
    cwd: repo,
    env: {
      ...env,
      ...(shape === 'auto' ? {} : { MUSTER_MODELS_FAMILY: shape }),
      MUSTER_TASK_TOOL_ENABLED: String(delegation),
    },
    timeoutMs: seconds * 1000 + GRACE_MS,
    stdoutFile: join(kept, 'events.jsonl'),
  });
}

/** Reads what `--output-format stream-json` printed. The last line is torn if the program was killed. */
function readEvents(file: string): readonly JsonObject[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const value = parseJson(line);
      return isJsonObject(value) ? [value] : [];
    });
}

function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}

/** Describes why the agent could not work at all; null if it worked, whatever came of it. */
function describeFailure(end: ProgramEnd, envelope: JsonObject | null): string | null {
  if (envelope === null) {
    if (end.timedOut) return null;
    const lines = end.output.trim().split('\n');
    return `muster ended with exit code ${end.exitCode}: ${lines.at(-1) ?? ''}`;
  }
  if (!end.timedOut && STOPPED.has(readStatus(envelope) ?? '')) {
    return 'muster was stopped by something other than its limits';
  }
  const error = envelope['error'];
  if (!isJsonObject(error) || !PROVIDER_CODES.has(String(error['code']))) return null;
  return `the provider failed: ${String(error['message'])}`;
}

/** The statuses of an agent that a signal has ended. */
const STOPPED: ReadonlySet<string> = new Set(['stopped', 'killed'] satisfies EndStatus[]);
/** The codes of errors for which the provider is responsible. */
const PROVIDER_CODES = new Set(['PROVIDER_ERROR', 'TIMEOUT']);

interface Verdict {
  readonly exitCode: number | null;
  readonly reason: string | null;
}

const NOT_JUDGED: Verdict = { exitCode: null, reason: null };

async function runHiddenCheck(
  { task }: PlannedRun,
  checker: Checker,
  { kept, judged }: RunPlace,
): Promise<Verdict> {
  const { exitCode, timedOut, output } = await judge(task, checker, { judged });
  writeFileSync(join(kept, 'check.txt'), output);
  if (timedOut) return { exitCode, reason: `the hidden check took over ${task.checkSeconds} s` };
  const reason = exitCode === 0 ? null : `the hidden check exited with ${exitCode}`;
  return { exitCode, reason };
}

function dataOf(envelope: JsonObject | null): JsonObject {
  const data = envelope?.['data'];
  return isJsonObject(data) ? data : {};
}

function readStatus(envelope: JsonObject | null): string | null {
  const { status } = dataOf(envelope);
  return typeof status === 'string' ? status : null;
}

function summarizeReceipt(envelope: JsonObject | null, repo: string): RunResult['receipt'] {
  const { receipt, files_modified: files } = dataOf(envelope);
  const { commands, childReceipts, refusals } = isJsonObject(receipt) ? receipt : {};
  const ofSubagents = isJsonObject(childReceipts) ? Object.values(childReceipts) : [];
  return {
    filesChanged: listOf(files)
      .map((file) => relative(repo, String(file)))
      .toSorted(),
    commands: ofSubagents.reduce<number>(
      (sum, child) => sum + countCommands(child),
      listOf(commands).length,
    ),
    refusals: listOf(refusals).length,
  };
}

/** Counts the commands in the receipt of a subagent, which lists only some of many. */
function countCommands(receipt: JsonValue | undefined): number {
  const { commands, commandsLeftOut } = isJsonObject(receipt) ? receipt : {};
  return listOf(commands).length + (typeof commandsLeftOut === 'number' ? commandsLeftOut : 0);
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function writeJson(file: string, value: JsonValue): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
