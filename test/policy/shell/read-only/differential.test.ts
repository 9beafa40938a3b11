import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseShellLine } from '../../../../src/policy/shell/parse-line.ts';
import type { ParsedShellLine, SimpleCommand } from '../../../../src/policy/shell/parsed-line.ts';
import { NASTY } from './nasty.ts';
import { tokenLine } from './random-lines.ts';
import { whatBashRuns, type RunCommand } from './real-bash.ts';

const FIXED_SEED = 20_260_731;
const BATCHES = 2;

/** Lines that would disturb the machine or never end, or whose builtins read commands out of strings. */
const NOT_RUN =
  /\b(?:kill|until|eval|trap|command|builtin|exec|source|mapfile|readarray|compgen|complete|bind|read|unset|let|printf|test)\b|^\. |\[ |'a\[|shopt|alias|hash|enable/;

test.each([
  ['a fixed seed', FIXED_SEED, 2000],
  ['a new seed', Date.now() % 1_000_000_007, 600],
])(
  'every command that bash runs was named by the grammar: %s',
  async (_, seed, count) => {
    const lines = fc.sample(tokenLine, { seed, numRuns: count });
    expect(
      await unnamed([...lines, ...NASTY.filter((line) => !NOT_RUN.test(line))]),
      `seed ${seed}`,
    ).toEqual([]);
  },
  60_000,
);

/** Each command that ran and was not named, with its line. */
async function unnamed(lines: readonly string[]): Promise<readonly unknown[]> {
  const batches = Array.from({ length: BATCHES }, (_, batch) =>
    lines.filter((__, index) => index % BATCHES === batch),
  );
  const found = await Promise.all(
    batches.map(async (batch) => {
      const directory = mkdtempSync(join(tmpdir(), 'muster-bash-'));
      try {
        const ran = await whatBashRuns(directory, batch);
        expect(ran.length).toBeGreaterThan(50);
        return ran.flatMap((command) => {
          const line = batch[command.line] ?? '';
          return isNamed(command, parseShellLine(line)) ? [] : [{ line, words: command.words }];
        });
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    }),
  );
  return found.flat();
}

function isNamed(ran: RunCommand, reading: ParsedShellLine): boolean {
  return reading.errors.length > 0 || reading.commands.some((command) => couldBe(command, ran));
}

/** The same words, as far as they are known before it runs. */
function couldBe({ words }: SimpleCommand, ran: RunCommand): boolean {
  const [program, ...rest] = words;
  if (program === undefined || program.value === null) return program !== undefined;
  if (program.value !== ran.words[0]) return false;
  if (rest.some((word) => word.value === null)) return true;
  return (
    rest.length === ran.words.length - 1 &&
    rest.every((word, index) => word.value === ran.words[index + 1])
  );
}
