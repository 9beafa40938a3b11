import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { BIN, type Sandbox } from '../e2e/muster.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Reads a page by its path in the repository. */
export function readPage(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** A command of a page and the lines that the page shows below it. */
export interface Transcript {
  readonly command: string;
  readonly shown: readonly string[];
}

/** Returns the commands in the `console` blocks of a page, which begin with `$ `. */
export function findTranscripts(page: string): readonly Transcript[] {
  return [...page.matchAll(/```console\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [command = '', ...shown] = part.trimEnd().split('\n');
        return { command, shown };
      }),
  );
}

/** Returns the blocks of a page in a language, such as `toml`. */
export function findBlocks(page: string, language: string): readonly string[] {
  const blocks = page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'));
  return [...blocks].map(([, block = '']) => block);
}

export interface ShellRun {
  readonly code: number | null;
  /** Both streams together, as in a terminal. */
  readonly output: string;
}

/** Runs a line of bash in the workspace. The command `muster` is the built program. */
export async function runInShell(
  sandbox: Sandbox,
  line: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ShellRun> {
  const programs = join(sandbox.root, 'bin');
  mkdirSync(programs, { recursive: true });
  const start = `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`;
  writeFileSync(join(programs, 'muster'), start, { mode: 0o755 });
  const base = sandbox.environment(env);
  const child = spawn('/bin/bash', ['-c', `exec 2>&1\n${line}`], {
    cwd: sandbox.workspace,
    env: { ...base, PATH: `${programs}:${base['PATH']}` },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const closed = once(child, 'close');
  const output = await text(child.stdout);
  await closed;
  return { code: child.exitCode, output };
}

/**
 * Runs the command of a transcript as a terminal shows it: with the lines about subagents, which `muster -p` prints
 * elsewhere only with `--verbose`, and then together with a line for each call.
 */
export async function runTranscript(
  sandbox: Sandbox,
  { command, shown }: Transcript,
  env: Readonly<Record<string, string>> = {},
): Promise<ShellRun> {
  const hasSubagents = shown.some((line) => line.startsWith('▸ '));
  if (!hasSubagents) return runInShell(sandbox, command, env);
  const { code, output } = await runInShell(sandbox, `${command} --verbose`, env);
  const lines = output.split('\n').filter((line) => !/^ {2}(?:main|\w+ \w+): /.test(line));
  return { code, output: lines.join('\n') };
}

/** Replaces what differs from run to run: times, dates, ids, numbers of tokens and their cost, and the width of columns. */
function steadyLine(line: string): string {
  return line
    .replaceAll(/(?:\d+ min )?\b\d[\d.]* m?s\b/g, 'TIME')
    .replaceAll(/\d{4}-\d\d-\d\d/g, 'DATE')
    .replaceAll(/(?<=[▸✓] \w+ )\w+|(?<=task )\w{12}\b/g, 'ID')
    .replaceAll(/\b[\d,]+(?= tokens)/g, 'N')
    .replaceAll(/\$(?!0\.0000\b)\d+\.\d{4}\b/g, '$N')
    .replaceAll(/ {2,}/g, '  ')
    .trim();
}

/**
 * Expects that an output has the lines that a page shows, in their order. A page leaves lines out only where it has a
 * line `…`.
 */
export function expectShown(output: string, shown: readonly string[]): void {
  const printed = output.trimEnd().split('\n').map(steadyLine);
  const expected = shown.map(steadyLine);
  if (!expected.includes('…')) return expect(printed).toEqual(expected);
  const wanted = expected.filter((line) => line !== '…');
  let next = 0;
  const found = printed.filter((line) => line === wanted[next] && (next += 1) > 0);
  expect(found, printed.join('\n')).toEqual(wanted);
}
