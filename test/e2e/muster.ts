import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { linkCompiledCode } from '../compiled-code.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import type { ResultEnvelope } from '../../src/protocol/result.ts';

/** The built program: what a user runs. */
export const BIN = resolve(import.meta.dirname, '../../dist/muster.js');

/** A home, a data directory and a workspace of their own, gone when it is disposed of. */
export class Sandbox {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'muster-e2e-')));
  readonly home = join(this.root, 'home');
  readonly data = join(this.root, 'data');
  readonly workspace = join(this.root, 'workspace');

  constructor(files: Readonly<Record<string, string>> = {}) {
    for (const path of [this.home, this.workspace]) mkdirSync(path);
    linkCompiledCode(this.home);
    for (const [path, text] of Object.entries(files)) this.write(path, text);
  }

  write(path: string, text: string): string {
    const full = join(this.workspace, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
    return full;
  }

  /** Nothing of the developer's own machine gets in. */
  environment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
    return {
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: this.home,
      LANG: 'C.UTF-8',
      MUSTER_DATA_DIR: this.data,
      ...extra,
    };
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Absent: there is none (`/dev/null`). `open`: a pipe that nobody writes to and nobody closes. */
  readonly stdin?: string | { readonly open: true };
  readonly cwd?: string;
  /** Another build of the program. */
  readonly bin?: string;
}

export interface Running {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly finished: Promise<Finished>;
  /** What stdout holds by now. */
  output(): string;
}

export function startMuster(
  sandbox: Sandbox,
  args: readonly string[],
  options: RunOptions = {},
): Running {
  const child = spawn(process.execPath, [options.bin ?? BIN, ...args], {
    cwd: options.cwd ?? sandbox.workspace,
    env: sandbox.environment(options.env),
    stdio: [options.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  if (typeof options.stdin === 'string') child.stdin?.end(options.stdin);
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => void (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => void (stderr += text));
  const finished = new Promise<Finished>((done, failed) => {
    child.once('error', failed);
    child.once('close', (code, signal) => done({ code, signal, stdout, stderr }));
  });
  return { process: child, pid: child.pid ?? -1, finished, output: () => stdout };
}

export function runMuster(
  sandbox: Sandbox,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Finished> {
  return startMuster(sandbox, args, options).finished;
}

export function envelopeOf({ stdout }: Pick<Finished, 'stdout'>): ResultEnvelope {
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
}

/** The events of a stream-json run, its result line left out. */
export function eventsOf({ stdout }: Pick<Finished, 'stdout'>): readonly TaskEvent[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter((line) => line.type !== 'result');
}
