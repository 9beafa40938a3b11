import { spawn, type ChildProcess } from 'node:child_process';
import { text } from 'node:stream/consumers';

export interface EndedProgram {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts a program without input, and collects what it prints. */
export function startProgram(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): { readonly child: ChildProcess; readonly ended: Promise<EndedProgram> } {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  const ended = Promise.all([exited, text(child.stdout), text(child.stderr)]).then(
    ([code, stdout, stderr]) => ({ code, stdout, stderr }),
  );
  return { child, ended };
}
