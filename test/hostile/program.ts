import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BIN } from '../e2e/muster.ts';
import type { ProgramRun } from './case.ts';
import type { HostileWorld } from './world.ts';

export interface EndedProgram {
  readonly run: ProgramRun;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Compiled code is kept from one start to the next, as on a user's machine. */
let compiled: string | undefined;
/** Before any case changes what that is. */
const TEMPORARY = tmpdir();

function compiledDirectory(): string {
  return (compiled ??= mkdtempSync(join(TEMPORARY, 'muster-hostile-compiled-')));
}

export function removeCompiled(): void {
  if (compiled !== undefined) rmSync(compiled, { recursive: true, force: true });
}

/** Longer than any case takes; one that hangs fails by its exit. */
const MAX_MS = 20_000;

/** Runs the built program as a user does, with nothing of the developer's own machine. */
export function runProgram(
  world: HostileWorld,
  run: ProgramRun,
  environment: Readonly<Record<string, string>>,
): Promise<EndedProgram> {
  const command = [process.execPath, BIN, ...run.args];
  const started = run.onTerminal === true ? onTerminal(command) : command;
  const child = spawn(
    '/bin/sh',
    ['-c', `umask ${run.umask ?? '022'}; exec "$@"`, 'sh', ...started],
    {
      cwd: world.place('ws'),
      env: {
        MUSTER_DATA_DIR: world.place('data'),
        XDG_CACHE_HOME: compiledDirectory(),
        ...environment,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: MAX_MS,
      killSignal: 'SIGKILL',
    },
  );
  child.stdin.on('error', () => {});
  child.stdin.end(run.stdin ?? '');
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (stderr += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ run, code, stdout, stderr }));
  });
}

/** Under a program that has a terminal made for it, and passes on what is shown there. */
function onTerminal(command: readonly string[]): readonly string[] {
  const quoted = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`);
  return ['script', '--quiet', '--return', '--command', quoted.join(' '), '/dev/null'];
}
