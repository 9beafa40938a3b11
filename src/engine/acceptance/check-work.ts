import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { rejectOnAbort } from '../../base/async.ts';
import { errorMessage, MusterError, systemErrorCode, type ErrorCode } from '../../base/errors.ts';
import {
  hasConditions,
  hasCriteria,
  listCommands,
  type AcceptanceCriteria,
  type AcceptanceOutcome,
  type AcceptanceRun,
  type WorkScore,
} from '../../protocol/acceptance.ts';
import type { ToolContext } from '../../protocol/tool.ts';
import { isPackageDirectory } from '../../acceptance/scan-tree.ts';
import { findDeniedPaths } from '../../policy/denied-paths.ts';
import { decideCheckCommand } from '../permissions/judge.ts';
import { createToolContext, createCommandSandbox } from '../calls/tool-context.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import { toRealPath } from '../../sys/files/real-path.ts';
import { isInside } from '../../base/path-inside.ts';
import { makeUserOnlyTempDirectory } from '../../sys/sandbox/private-directories.ts';
import { endMarkedProcesses } from '../../sys/processes/process-group.ts';
import { TASK_VARIABLE } from '../../sys/processes/command-environment.ts';
import { readEnvironment, type Environment } from '../../sys/env.ts';
import { formatDuration } from '../../base/text.ts';
import { newId } from '../../base/ids.ts';
import { findScore, markStdout, splitMarked } from './score-work.ts';

/**
 * Records the state of a task's directory before its work begins, if its work must be accepted and the state was not
 * recorded yet. The first request need not wait for this, but the first call must. Rejects with MusterError
 * `LIMIT_EXCEEDED` if the directory is too large. A rerun takes the event from the log.
 */
export async function prepareAcceptance(deps: EngineDeps, run: TaskRun): Promise<void> {
  const { accept, cwd } = run.spec;
  if (accept === undefined || !hasCriteria(accept)) return;
  if (run.state.acceptance.baseline !== null || deps.acceptance !== undefined) return;
  const baseline = await recordBaseline(deps, run, { accept, cwd });
  run.journal.record({ type: 'acceptance.prepared', baseline });
  await run.journal.sync();
}

async function recordBaseline(
  { store, home }: Pick<EngineDeps, 'store' | 'home'>,
  run: TaskRun,
  { accept, cwd }: { readonly accept: AcceptanceCriteria; readonly cwd: string },
): Promise<string> {
  const { takeBaseline, formatBaseline } = await import('../../acceptance/baseline.ts');
  const baseline = await takeBaseline(toRealPath(cwd), {
    criteria: accept,
    hidden: listHiddenPaths(run, home),
    signal: run.cancellation.signal,
  });
  return store.putBlob(formatBaseline(baseline), { redact: false });
}

/** Lists the paths that rules hide from the commands of a task. Its checks must not reveal them either. */
function listHiddenPaths({ permissions }: Pick<TaskRun, 'permissions'>, home: string) {
  return findDeniedPaths(permissions.rights, { home }).hidden;
}

/**
 * Checks the work of a task and records the outcome. The commands run on a copy of the directory, where the task can
 * reach neither the checks nor what they use. Rejects if the task is stopped or interrupted meanwhile.
 */
export async function checkWork(deps: EngineDeps, run: TaskRun): Promise<void> {
  await run.preparation;
  const { turns } = run.state;
  run.journal.record({ type: 'acceptance.started', turn: turns });
  const signal = run.cancellation.turnSignal;
  const outcome = await rejectOnAbort(
    deps.acceptance === undefined ? makeCheck(deps, run, signal) : deps.acceptance(),
    signal,
  );
  run.journal.record({ type: 'acceptance.checked', outcome });
  await run.journal.sync();
}

async function makeCheck(
  deps: EngineDeps,
  run: TaskRun,
  signal: AbortSignal,
): Promise<AcceptanceOutcome> {
  const { accept: criteria } = run.spec;
  const { baseline: hash } = run.state.acceptance;
  if (criteria === undefined || hash === null)
    throw new Error(`task ${run.spec.id} has no recorded state to compare its work with`);
  const { on: isSandboxed } = await deps.sandbox.state();
  // Without a sandbox, a program that the task left running could answer in place of the work.
  if (!isSandboxed) await endMarkedProcesses(TASK_VARIABLE, [run.spec.id]);
  const [{ parseBaseline }, { makeCleanCopy, findTamperedInputs }] = await Promise.all([
    import('../../acceptance/baseline.ts'),
    import('../../acceptance/clean-copy.ts'),
  ]);
  await removeStaleDirectories();
  const directory = makeUserOnlyTempDirectory(`${DIRECTORY_PREFIX}${process.pid}-`);
  try {
    const baseline = parseBaseline(deps.store.getBlob(hash));
    const copy = join(directory, basename(baseline.root) || 'copy');
    await mkdir(copy);
    const { tree, packages, problems, notes, inputs } = await makeCleanCopy(baseline, copy, {
      criteria,
      hidden: listHiddenPaths(run, deps.home),
      signal,
    });
    const denials = await findDenials(deps, run, listCommands(criteria));
    const reasons = [...problems, ...denials];
    const directories = { directory, copy, root: baseline.root, packages, signal };
    const runs = reasons.length > 0 ? [] : await runCommands(deps, run, directories);
    const isAccepted = reasons.length === 0 && runs.every(({ exitCode }) => exitCode === 0);
    const score =
      criteria.score === undefined || !isAccepted
        ? null
        : await runScore(deps, run, { ...directories, command: criteria.score });
    const tampered = isSandboxed ? [] : await findTamperedInputs(copy, inputs);
    const allProblems = [...reasons, ...tampered.map(describeTampering)];
    const isPassed = isAccepted && tampered.length === 0;
    const { turns: turn } = run.state;
    const outcome = { turn, isPassed, tree, runs, problems: allProblems, isSandboxed };
    return judge(criteria, {
      ...outcome,
      ...(notes.length === 0 ? {} : { notes }),
      ...(score === null ? {} : { score }),
    });
  } catch (thrown) {
    const isExpected = thrown instanceof MusterError || systemErrorCode(thrown) !== undefined;
    if (signal.aborted || !isExpected) throw thrown;
    const problem = `the work could not be checked: ${errorMessage(thrown)}`;
    const turn = run.state.turns;
    return judge(criteria, {
      turn,
      isPassed: false,
      tree: null,
      runs: [],
      problems: [problem],
      isSandboxed,
    });
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Work without conditions is accepted whatever happens, but problems leave it without a score. */
function judge(criteria: AcceptanceCriteria, outcome: AcceptanceOutcome): AcceptanceOutcome {
  const { score: command } = criteria;
  if (command === undefined || hasConditions(criteria) || outcome.isPassed) return outcome;
  const problem = outcome.problems.join('; ');
  const score = { command, value: null, exitCode: null, ms: 0, output: '', problem };
  return { ...outcome, isPassed: true, problems: [], score };
}

/**
 * Returns a sentence for each command that the present rights of the task forbid. The criteria may come from a definition
 * or from an earlier run, so the commands are decided about once more.
 */
async function findDenials(
  deps: EngineDeps,
  run: TaskRun,
  commands: readonly string[],
): Promise<readonly string[]> {
  const denials: string[] = [];
  for (const command of commands) {
    const { verdict, reason } = await decideCheckCommand(deps, run, command);
    if (verdict === 'deny') denials.push(`${command} may not run: ${reason}`);
  }
  return denials;
}

function describeTampering(path: string): string {
  return `${path} was changed while the checks ran, and there is no sandbox that protects them`;
}

/** The directories of one check. */
interface CheckDirectories {
  /** The private directory, which is removed after the check. */
  readonly directory: string;
  /** The clean copy, in the private directory. */
  readonly copy: string;
  /** The directory of the task. */
  readonly root: string;
  /** The directories of installed packages to which the copy has links. */
  readonly packages: readonly string[];
  readonly signal: AbortSignal;
}

/** Runs the commands of the criteria one after the other, until one of them fails. */
async function runCommands(
  deps: EngineDeps,
  run: TaskRun,
  directories: CheckDirectories,
): Promise<readonly AcceptanceRun[]> {
  const runs: AcceptanceRun[] = [];
  for (const command of run.spec.accept?.commands ?? []) {
    const { exitCode, ms, text } = await runCommand(deps, run, { ...directories, command });
    runs.push({ command, exitCode, ms, output: text.slice(-MAX_OUTPUT) });
    if (exitCode !== 0) break;
  }
  return runs;
}

/** Runs the command that scores the work. */
async function runScore(
  deps: EngineDeps,
  run: TaskRun,
  check: CheckDirectories & { readonly command: string },
): Promise<WorkScore> {
  const { command } = check;
  const mark = `score-${newId()}`;
  const marked = { ...check, command: markStdout(command, mark) };
  const { exitCode, ms, text, error } = await runCommand(deps, run, marked);
  const { stdout, rest } = splitMarked(text, mark);
  const output = `${rest}\n${stdout}`.trim().slice(-MAX_OUTPUT);
  const problem =
    error === 'TIMEOUT'
      ? `it had not ended after ${formatDuration(commandTimeout(deps))} (limit tool_seconds, at most ${formatDuration(MAX_COMMAND_MS)})`
      : error === undefined
        ? null
        : `it was ended (${error})`;
  const value = problem === null ? findScore(stdout) : null;
  return { command, value, exitCode, ms, output, problem };
}

/** The beginning of the names of private directories. The id of the process that owns a directory follows. */
const DIRECTORY_PREFIX = 'muster-accept-';

/**
 * Removes the private directories of processes of this user that were killed during a check. What can't be removed does
 * not prevent the check.
 */
async function removeStaleDirectories(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = new RegExp(`^${DIRECTORY_PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    const path = join(tmpdir(), name);
    try {
      const stats = await lstat(path);
      if (stats.isDirectory() && stats.uid === process.getuid?.())
        await rm(path, { recursive: true, force: true });
    } catch (thrown) {
      if (systemErrorCode(thrown) === undefined) throw thrown;
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return systemErrorCode(thrown) !== 'ESRCH';
  }
}

/** The maximum length of the output that is recorded, in UTF-16 units. The last part is kept. */
const MAX_OUTPUT = 8_000;

/** The time after which a command is ended, if `tool_seconds` allows more. */
const MAX_COMMAND_MS = 600_000;

function commandTimeout({ settings }: Pick<EngineDeps, 'settings'>): number {
  return Math.min(settings.caps.toolMs, MAX_COMMAND_MS);
}

/** The end of a command. `exitCode` is null if it did not end by itself. */
interface CommandEnd extends Pick<AcceptanceRun, 'exitCode' | 'ms'> {
  readonly text: string;
  readonly error?: ErrorCode;
}

async function runCommand(
  deps: EngineDeps,
  run: TaskRun,
  check: CheckDirectories & { readonly command: string },
): Promise<CommandEnd> {
  const { command, signal } = check;
  const bash = deps.tools.find(({ name }) => name === 'Bash');
  if (bash === undefined) throw new MusterError('INTERNAL_ERROR', 'accept: there is no shell');
  const parsed = bash.parse({ command, timeout: commandTimeout(deps) });
  if (!parsed.ok) throw new MusterError('INVALID_PARAM', `accept: ${parsed.issues.join('; ')}`);
  const startedAt = deps.clock.monotonic();
  const output = await bash.run(parsed.input, createCheckContext(deps, run, check));
  signal.throwIfAborted();
  const exitCode =
    output.error === undefined ? (output.facts?.commands?.[0]?.exitCode ?? null) : null;
  const ms = Math.round(deps.clock.monotonic() - startedAt);
  const { text, error } = output;
  return { exitCode, ms, text, ...(error === undefined ? {} : { error }) };
}

/** Creates the context in which a command runs: the copy is its only directory. */
function createCheckContext(
  deps: EngineDeps,
  run: TaskRun,
  { directory, copy, root, packages, signal }: CheckDirectories,
): ToolContext {
  const { rights } = run.permissions;
  const context = createToolContext(deps, run, {
    callId: 'accept',
    tool: 'Bash',
    signal,
    pathAccess: { roots: [copy], judged: new Map(), excludedPathsBelow: () => null },
    decision: undefined,
    runWait: (wait) => wait(),
  });
  const sandbox = createCommandSandbox({
    sandbox: deps.sandbox,
    environment: deps.environment,
    variableNames: deps.settings.commandVariables,
    taskVariables: buildCheckVariables(directory, deps.environment ?? readEnvironment()),
    taskId: run.spec.id,
    rights: { mode: 'default', rules: rights.rules, roots: [directory], network: rights.network },
    home: deps.home,
    isolated: {
      // Programs of installed packages are those that were there before; others of the directory may be the task's.
      pathWithout: (entry) =>
        isInside(root, entry) && !entry.slice(root.length).split('/').some(isPackageDirectory),
      readable: packages,
    },
  });
  const queued = run.tree.commands.queueCommands(sandbox, signal);
  // A check changes only its copy, so its changes are not observed.
  const { changes: _, ...rest } = context;
  return { ...rest, cwd: copy, sandbox: queued };
}

/** Builds the variables that keep a check from what earlier commands have left in caches. */
function buildCheckVariables(
  directory: string,
  environment: Environment,
): Readonly<Record<string, string>> {
  const caches = ['GOCACHE', 'CCACHE_DIR', 'SCCACHE_DIR', 'XDG_CACHE_HOME', 'PYTHONPYCACHEPREFIX'];
  return {
    CI: environment['CI'] ?? '1',
    PYTHONDONTWRITEBYTECODE: '1',
    ...Object.fromEntries(caches.map((name) => [name, join(directory, '.cache', name)])),
  };
}
