import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeTexts } from '../../../src/workspaces/merge/merge-text.ts';
import { needs } from '../../needs.ts';
import { tempDirectory } from '../../sys/temp.ts';

/** Edits: at a position, some lines go and others come. */
const edits = (line: fc.Arbitrary<string>) =>
  fc.array(
    fc.record({
      at: fc.nat({ max: 25 }),
      removed: fc.nat({ max: 2 }),
      added: fc.array(line, { maxLength: 2 }),
    }),
    { maxLength: 3 },
  );

/** Three versions of a text. With few different lines, many of them are equal, and most merges are ambiguous. */
const versions = fc.constantFrom(3, 6, 20, 1000).chain((kinds) => {
  const line = fc.nat({ max: kinds - 1 }).map((number) => `w${number}`);
  const ending = fc.constantFrom('\n', '\n', '\n', '');
  return fc.record({
    base: fc.array(line, { maxLength: 25 }),
    ours: edits(line),
    theirs: edits(line),
    endings: fc.tuple(ending, ending, ending),
  });
});

function applyTo(
  lines: readonly string[],
  changes: readonly {
    readonly at: number;
    readonly removed: number;
    readonly added: readonly string[];
  }[],
): readonly string[] {
  const result = [...lines];
  for (const { at, removed, added } of changes) result.splice(at, removed, ...added);
  return result;
}

function toText(lines: readonly string[], ending: string): string {
  return lines.length === 0 ? '' : lines.join('\n') + ending;
}

/** Merges with git; null for conflicts. */
async function mergeByGit(
  directory: string,
  texts: Record<'ours' | 'base' | 'theirs', string>,
): Promise<string | null> {
  for (const [name, text] of Object.entries(texts)) fs.writeFileSync(join(directory, name), text);
  const { promise, resolve, reject } = Promise.withResolvers<string | null>();
  execFile(
    'git',
    ['merge-file', '-p', 'ours', 'base', 'theirs'],
    { cwd: directory },
    (error, stdout) => {
      if (error === null) resolve(stdout);
      else if (typeof error.code === 'number' && error.code < 128) resolve(null);
      else reject(error);
    },
  );
  return await promise;
}

test.runIf(needs('git', 'git'))(
  'texts are merged exactly as git merges them',
  async () => {
    const directory = tempDirectory();
    await fc.assert(
      fc.asyncProperty(versions, async ({ base, ours, theirs, endings }) => {
        const texts = {
          base: toText(base, endings[0]),
          ours: toText(applyTo(base, ours), endings[1]),
          theirs: toText(applyTo(base, theirs), endings[2]),
        };
        const merge = mergeTexts({
          base: Buffer.from(texts.base),
          ours: Buffer.from(texts.ours),
          theirs: Buffer.from(texts.theirs),
        });
        const merged = merge.kind === 'merged' ? merge.bytes.toString() : null;
        expect(merged).toBe(await mergeByGit(directory, texts));
      }),
      { numRuns: 1000 },
    );
  },
  3_600_000,
);
