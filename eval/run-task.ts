import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { errorMessage } from '../src/base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../src/base/json.ts';
import { TreeTooLargeError } from './copy-tree.ts';
import { judge, type Checker } from './judge.ts';
import { denyRules, MUSTER, readUsage } from './muster.ts';
import {
  prepareRun,
  recordAgent,
  removeCopies,
  RUN_VARIABLE,
  type Place,
  type RunPlace,
} from './place.ts';
import type { PlannedRun } from './plan.ts';
import { runBounded, type ProgramEnd } from './processes.ts';
import type { RunResult } from './results.ts';

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
}

/** The time that Muster has to end by itself after its limit, before it is killed. */
const GRACE_MS = 60_000;

/** Runs the agent on a task as a user would, and judges what it left. */
export async function runTask(run: PlannedRun, context: RunContext): Promise<RunResult> {
  const { id, task, delegation, shape } = run;
  const runPlace = prepareRun(context.place, id);
  const data = join(runPlace.kept, 'data');
  createRepository(join(task.directory, 'repo'), runPlace.repo);
  const end = await runAgent(run, context, runPlace);
  const events = readEvents(join(runPlace.kept, 'events.jsonl'));
  const envelope = events.find(({ type }) => type === 'result') ?? null;
  writeFileSync(join(runPlace.kept, 'stderr.txt'), end.output);
  writeJson(join(runPlace.kept, 'result.json'), envelope);
  writeFileSync(join(runPlace.kept, 'changes.patch'), diffTrees(task.directory, runPlace.repo));
  const failure = describeFailure(end, envelope);
  const verdict = failure === null ? await judgeRun(run, context, runPlace) : NOT_JUDGED;
  removeCopies(runPlace);
  const result: RunResult = {
    id,
    task: task.name,
    language: task.language,
    kind: task.kind,
    delegation,
    shape,
    solved: verdict.exitCode === 0,
    outcome: failure === null ? 'judged' : 'error',
    status: readStatus(envelope),
    reason: failure ?? verdict.reason,
    seconds: Math.round(end.ms) / 1000,
    checkExitCode: verdict.exitCode,
    ...readUsage(data, context.env),
    receipt: summarizeReceipt(envelope, runPlace.repo),
  };
  return result;
}

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

/** Compares two directories without using the agent's repository, whose settings could run programs. */
function diffTrees(original: string, tree: string): string {
  const args = ['diff', '--no-index', '--no-ext-diff', '--no-textconv', '--', 'repo', tree];
  const options = { cwd: original, env: GIT_ENV, encoding: 'utf8', maxBuffer: 50_000_000 } as const;
  const { stdout } = spawnSync('git', args, options);
  return withoutGitDirectory(stdout ?? '');
}

function withoutGitDirectory(patch: string): string {
  return patch
    .split(/^(?=diff --git )/m)
    .filter((part) => !/^diff --git \S*\/\.git\//.test(part))
    .join('');
}

async function runAgent(
  { task, delegation, shape }: PlannedRun,
  { place, model, flags, env, agentSeconds }: RunContext,
  { kept, repo }: RunPlace,
): Promise<ProgramEnd> {
  const seconds = Math.min(task.agentSeconds, agentSeconds ?? Infinity);
  const data = join(kept, 'data');
  mkdirSync(data, { recursive: true });
  const denied = denyRules(place, dirname(task.directory)).flatMap((rule) => ['--deny', rule]);
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
      [RUN_VARIABLE]: kept,
    },
    timeoutMs: seconds * 1000 + GRACE_MS,
    stdoutFile: join(kept, 'events.jsonl'),
    onStarted: (pid) => recordAgent(kept, pid),
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
  const error = envelope['error'];
  if (!isJsonObject(error) || !PROVIDER_CODES.has(String(error['code']))) return null;
  return `the provider failed: ${String(error['message'])}`;
}

/** The codes of errors for which the provider is responsible. */
const PROVIDER_CODES = new Set(['PROVIDER_ERROR', 'TIMEOUT']);

interface Verdict {
  readonly exitCode: number | null;
  readonly reason: string | null;
}

const NOT_JUDGED: Verdict = { exitCode: null, reason: null };

async function judgeRun(
  { task }: PlannedRun,
  { checker }: RunContext,
  { kept, repo, judged }: RunPlace,
): Promise<Verdict> {
  try {
    const { exitCode, timedOut, output } = await judge(task, checker, { tree: repo, judged });
    writeFileSync(join(kept, 'check.txt'), output);
    if (timedOut) return { exitCode, reason: `the hidden check took over ${task.checkSeconds} s` };
    const reason = exitCode === 0 ? null : `the hidden check exited with ${exitCode}`;
    return { exitCode, reason };
  } catch (thrown) {
    if (!(thrown instanceof TreeTooLargeError)) throw thrown;
    return { exitCode: null, reason: errorMessage(thrown) };
  }
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
