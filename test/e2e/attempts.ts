import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  toolResultRounds,
  type Answer,
  type AnswerToolCall,
  type Fault,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import type { RunOptions } from './muster.ts';
import { bash, openWorld, type World } from './world.ts';

export const IDENTITY = {
  GIT_AUTHOR_NAME: 'Me',
  GIT_AUTHOR_EMAIL: 'me@localhost',
  GIT_COMMITTER_NAME: 'Me',
  GIT_COMMITTER_EMAIL: 'me@localhost',
};
export const RIGHTS = ['--permission-mode', 'acceptEdits', '--allow', 'Bash'];
/** One attempt after the other, so that the script knows which one asks. */
export const IN_TURN = { MUSTER_TASK_TOOL_MAX_PARALLEL: '1' };

export function git(directory: string, ...args: readonly string[]): string {
  return execFileSync('git', args, {
    cwd: directory,
    encoding: 'utf8',
    env: { ...process.env, ...IDENTITY },
  });
}

/** What an attempt does: a command and then its answer, or a failure. */
type Attempt = string | 'fails';

interface Scene {
  /** What each attempt does, in the order in which they begin. */
  readonly attempts: readonly Attempt[];
  readonly files?: Readonly<Record<string, string>>;
  /** Default: true. */
  readonly isRepository?: boolean;
  /** The fault of the next answer to an attempt, by its number from 0. Default: none. */
  readonly fault?: (attempt: number) => Fault | null;
}

/** Opens a world whose model answers as the scene says. */
export async function openScene(scene: Scene): Promise<World> {
  const { attempts, files = {}, isRepository = true, fault } = scene;
  const seen: string[] = [];
  const world = await openWorld({
    files: { 'src/value.txt': '0\n', ...files },
    script: (request: RecordedRequest): Answer => {
      const task = /[/]workspaces[/]([a-z0-9]+)[/]tree/.exec(request.systemParts.join('\n'))?.[1];
      if (task !== undefined && !seen.includes(task)) seen.push(task);
      const at = seen.indexOf(task ?? '');
      const failure = fault?.(at) ?? null;
      if (failure !== null) return { fault: failure };
      const attempt = attempts[at] ?? 'fails';
      if (attempt === 'fails') return { fault: { kind: 'status', status: 400 } };
      const calls: readonly AnswerToolCall[] = [bash(attempt)];
      return toolResultRounds(request) === 0 ? { toolCalls: calls } : { text: 'done' };
    },
  });
  if (isRepository) {
    const { workspace: cwd } = world.sandbox;
    git(cwd, 'init', '-q', '-b', 'main');
    git(cwd, 'add', '.');
    git(cwd, 'commit', '-q', '-m', 'first');
  }
  return world;
}

interface Row {
  readonly attempt: number;
  readonly status: string;
  readonly task_id: string;
  readonly model: string;
  readonly score: {
    readonly value: number | null;
    readonly exit_code: number | null;
    readonly problem: string | null;
  } | null;
  readonly warnings: readonly string[];
  readonly changes: { readonly files: number } | null;
  readonly is_best: boolean;
}

export interface Report {
  readonly task_id: string;
  readonly status: string;
  readonly best: readonly string[];
  readonly landed: readonly { readonly status: string; readonly paths: readonly string[] }[];
  readonly items: readonly Row[];
}

export function run(world: World, args: readonly string[], options: RunOptions = {}) {
  const env = { ...IDENTITY, ...IN_TURN, ...options.env };
  return world.run(['run', ...args], { ...options, env });
}

export async function runJson(world: World, args: readonly string[], options: RunOptions = {}) {
  const { code, stdout, stderr } = await run(world, [...args, ...RIGHTS, '--json'], options);
  if (stdout === '') throw new Error(stderr);
  const report: Report = JSON.parse(stdout);
  return { code, stderr, report };
}

export function read(world: World, name: string): string {
  return readFileSync(join(world.sandbox.workspace, name), 'utf8');
}
