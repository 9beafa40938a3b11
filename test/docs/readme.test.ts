import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { runMuster, Sandbox } from '../e2e/muster.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** What stands between the fences of the first sample, and the prompt that it answers. */
function firstSample(): { readonly prompt: string; readonly lines: readonly string[] } {
  const page = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const [, prompt = '', sample = ''] =
    /npm start -- -p "([^"]+)"\n```[\s\S]*?\n```\n([\s\S]*?)\n```/.exec(page) ?? [];
  return { prompt, lines: sample.split('\n') };
}

/**
 * Without what differs from run to run, from machine to machine and with each edit of a file: a fast
 * machine needs milliseconds where the sample tells of seconds.
 */
function lasting(line: string): string {
  return line
    .replaceAll(/(?:\d+ min )?\d[\d.]* m?s\b/g, 'TIME')
    .replaceAll(/(?<=Explore )\w+|(?<=task )\w+/g, 'ID')
    .replaceAll(/(?<=\.\w+:)\d+/g, '…')
    .replaceAll(/\d[\d,.]*/g, 'N');
}

it('the first sample of the README is the real output of its command', async () => {
  const { prompt, lines } = firstSample();
  using sandbox = new Sandbox();
  // On no terminal the lines of subagents are printed only so, and more with them.
  const run = await runMuster(sandbox, ['-p', prompt, '--verbose'], { cwd: ROOT });
  const printed = `${run.stderr}${run.stdout}`.split('\n').map(lasting);
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) {
    if (line !== '…') expect(printed).toContain(lasting(line));
  }
  expect(run.stdout.startsWith('1. `src/policy/decide.ts:')).toBe(true);
});
