import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A program that bash was about to run, with its arguments. */
export interface RunCommand {
  /** Of the line that ran it. */
  readonly line: number;
  readonly words: readonly string[];
}

/**
 * Each line in a subshell of its own, so that none of them disturbs the next; a fork apiece, and no more.
 * With nothing on PATH, bash tells what it would run.
 */
const LOGGING = `
command_not_found_handle() { printf '%s\\0' "$LINE" "$#" "$@" >&9; return 127; }
exec 9>>"$1/log"
LINE=0
while IFS= read -r -d '' text <&8; do
  ( cd "$1/place"; exec 8<&-; ulimit -t 2; eval "$text"; wait ) </dev/null >/dev/null 2>&1
  LINE=$((LINE + 1))
done 8<"$1/lines"
`;

/** What bash would run for each line, with no program to be found: builtins do work. */
export async function whatBashRuns(
  directory: string,
  lines: readonly string[],
): Promise<readonly RunCommand[]> {
  const place = prepare(directory, lines);
  mkdirSync(join(place, 'no-programs'));
  await run(LOGGING, place, { PATH: join(place, 'no-programs'), HOME: place, LC_ALL: 'C.UTF-8' });
  return readLog(readFileSync(join(place, 'log'), 'utf8'));
}

const RUNNING = `
while IFS= read -r -d '' text <&8; do
  ( exec 8<&-; ulimit -t 5; eval "$text"; wait ) </dev/null >/dev/null 2>&1
done 8<"$1/lines"
`;

/** Runs lines for real, one after the other, in a directory. */
export async function runInBash(
  scratch: string,
  lines: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<void> {
  await run(`cd ${JSON.stringify(cwd)} || exit\n${RUNNING}`, prepare(scratch, lines), env);
}

function prepare(directory: string, lines: readonly string[]): string {
  mkdirSync(join(directory, 'place'), { recursive: true });
  writeFileSync(join(directory, 'lines'), lines.map((line) => `${line}\0`).join(''));
  writeFileSync(join(directory, 'log'), '');
  return directory;
}

function run(
  script: string,
  directory: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const args = ['--noprofile', '--norc', '-c', script, 'bash', directory];
    const child = spawn('/bin/bash', args, { env, stdio: 'ignore' });
    child.once('error', reject);
    child.once('close', () => resolve());
  });
}

function readLog(log: string): readonly RunCommand[] {
  const fields = log.split('\0');
  const found: RunCommand[] = [];
  for (let at = 0; at + 1 < fields.length;) {
    const count = Number(fields[at + 1]);
    found.push({ line: Number(fields[at]), words: fields.slice(at + 2, at + 2 + count) });
    at += 2 + count;
  }
  return found;
}
