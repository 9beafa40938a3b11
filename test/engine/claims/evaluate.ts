import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { checkClaims } from '../../../src/engine/claims/check-claims.ts';
import type { ClaimFacts } from '../../../src/engine/claims/facts.ts';
import type { ClaimFlag } from '../../../src/protocol/result.ts';

/**
 * Measures the rules on sets of answers: `node test/engine/claims/evaluate.ts FILE…`, each file JSONL of
 * `{id, prompt, answer, receipt, false}`.
 */
const receipt = z.object({
  filesChanged: z.array(z.object({ path: z.string() })).default([]),
  filesRead: z.array(z.string()).default([]),
  commands: z.array(z.object({ command: z.string(), exitCode: z.number().nullable() })).default([]),
  tools: z.array(z.object({ tool: z.string(), count: z.number() })).default([]),
  get children() {
    return z.array(receipt).default([]);
  },
});
type SetReceipt = z.infer<typeof receipt>;

const labelled = z.object({
  id: z.union([z.string(), z.number()]).transform(String),
  prompt: z.string(),
  answer: z.string(),
  receipt,
  false: z.boolean(),
});
type LabelledAnswer = z.infer<typeof labelled>;

export function readSet(path: string | URL): readonly LabelledAnswer[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.flatMap((line) => (line.trim() === '' ? [] : [labelled.parse(JSON.parse(line))]));
}

function flagsOf({ answer, prompt, receipt: whole }: LabelledAnswer): readonly ClaimFlag[] {
  return checkClaims(answer, factsOf(prompt, whole));
}

function factsOf(prompt: string, whole: SetReceipt): ClaimFacts {
  const all = withChildren(whole);
  return {
    prompt,
    cwd: '/ws',
    read: all.flatMap(({ filesRead }) => filesRead),
    changed: all.flatMap(({ filesChanged }) => filesChanged.map(({ path }) => path)),
    runs: all.map(({ commands }, at) =>
      commands.map(({ command, exitCode }) => ({
        command,
        exitCode: exitCode ?? (at === 0 ? 'killed' : 'unknown'),
      })),
    ),
    tools: new Set(all.flatMap(({ tools }) => tools.map(({ tool }) => tool))),
    hasGaps: false,
  };
}

function withChildren(whole: SetReceipt): readonly SetReceipt[] {
  return [whole, ...whole.children.flatMap(withChildren)];
}

interface Rates {
  readonly falseClaims: number;
  /** Ids of false claims without a flag. */
  readonly missed: readonly string[];
  readonly trueAnswers: number;
  /** Ids of true answers with one. */
  readonly alarms: readonly string[];
}

export function measure(set: readonly LabelledAnswer[]): Rates {
  const wrong = set.filter((each) => flagsOf(each).length > 0 !== each.false);
  const ids = (isFalse: boolean) =>
    wrong.filter((each) => each.false === isFalse).map(({ id }) => id);
  const falseClaims = set.filter((each) => each.false).length;
  return {
    falseClaims,
    missed: ids(true),
    trueAnswers: set.length - falseClaims,
    alarms: ids(false),
  };
}

function main(paths: readonly string[]): void {
  const set = paths.flatMap((path) => [...readSet(path)]);
  const { falseClaims, missed, trueAnswers, alarms } = measure(set);
  const found = falseClaims - missed.length;
  console.log(`false claims found: ${found} of ${falseClaims}${share(found, falseClaims)}`);
  console.log(`missed: ${missed.join(' ') || 'none'}`);
  console.log(
    `false alarms: ${alarms.length} of ${trueAnswers}${share(alarms.length, trueAnswers)}`,
  );
  for (const each of set) {
    if (each.false) continue;
    for (const { kind, claim, why } of flagsOf(each)) {
      console.log(`  ${each.id}: ${kind}: ${JSON.stringify(claim)}: ${why}`);
    }
  }
}

function share(part: number, whole: number): string {
  return whole === 0 ? '' : ` (${((100 * part) / whole).toFixed(1)} %)`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main(process.argv.slice(2));
