import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import {
  estimateTokens,
  MAX_TOKENS_PER_CHARACTER,
  prefixLengthWithin,
  estimateTokensUnrounded,
} from '../../src/base/token-estimate.ts';

const ROOT = join(import.meta.dirname, '../..');
/** About what a message or a tool result has; a file that is longer gives several. */
const SAMPLE = 2_000;
/** A prose fixture is short: its samples are, too. */
const PROSE_SAMPLE = 300;
const UNSEEN_SAMPLE = 500;
const MAX_SAMPLES = 120;

function filesBelow(folder: string, ending: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && !name.includes('node_modules'))
    .map((name) => readFileSync(join(ROOT, folder, name), 'utf8'));
}

function fixture(name: string): string {
  return readFileSync(join(ROOT, 'test/fixtures/texts', `${name}.txt`), 'utf8');
}

/** Evenly over all of them, so that every run takes the same. */
function samplesOf(texts: readonly string[], length = SAMPLE): readonly string[] {
  const all = texts.flatMap((text) =>
    Array.from({ length: Math.ceil(text.length / length) }, (_, n) =>
      text.slice(n * length, (n + 1) * length),
    ).filter((sample) => sample.length > length / 3),
  );
  const step = Math.max(1, all.length / MAX_SAMPLES);
  return Array.from({ length: Math.min(all.length, MAX_SAMPLES) }, (_, n) => {
    return all[Math.floor(n * step)] ?? '';
  });
}

/** Of a text that is data, whatever marks of a chat stand in it. */
function truth(text: string): number {
  return countTokens(text, { disallowedSpecial: new Set() });
}

/** Shares of the true count, the smallest first. */
function errorsOf(samples: readonly string[]): readonly number[] {
  return samples
    .map((sample) => Math.abs(estimateTokensUnrounded(sample) / truth(sample) - 1))
    .toSorted((a, b) => a - b);
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Bytes that look like chance and are the same each time. */
function noise(bytes: number): Buffer {
  const parts = Array.from({ length: Math.ceil(bytes / 32) }, (_, n) =>
    createHash('sha256').update(`noise ${n}`).digest(),
  );
  return Buffer.concat(parts).subarray(0, bytes);
}

function listing(rows: number): string {
  return Array.from({ length: rows }, (_, n) => {
    const hash = createHash('sha256').update(`${n}`).digest('hex').slice(0, 12);
    return `src/part-${n % 7}/file-${n}.ts:${n * 3}: export const value${n} = '${hash}';`;
  }).join('\n');
}

function log(rows: number): string {
  return Array.from({ length: rows }, (_, n) => {
    const id = createHash('sha256').update(`request ${n}`).digest('hex').slice(0, 32);
    const second = String(n % 60).padStart(2, '0');
    return `2026-11-22T18:04:${second}.${100 + n}Z host-${n % 5} INFO [worker-${n % 9}] GET /api/v1/items/${n * 37} 200 ${n % 90}ms id=${id}`;
  }).join('\n');
}

function toolResults(): readonly string[] {
  const files = filesBelow('src/engine', '.ts');
  const rows = files.map((text, n) => ({
    path: `src/engine/file-${n}.ts`,
    lines: text.length,
    text,
  }));
  return [
    JSON.stringify(rows),
    JSON.stringify(
      rows.map(({ path, lines }) => ({ path, lines, ok: lines % 2 === 0 })),
      null,
      2,
    ),
  ];
}

const KINDS: readonly (readonly [name: string, samples: () => readonly string[]])[] = [
  ['code of src', () => samplesOf(filesBelow('src', '.ts'))],
  ['code of tests', () => samplesOf(filesBelow('test', '.ts'))],
  ['documents', () => samplesOf(filesBelow('docs', '.md'))],
  ['English prose', () => samplesOf([fixture('english')], PROSE_SAMPLE)],
  ['German prose', () => samplesOf([fixture('german')], PROSE_SAMPLE)],
  ['JSON', () => samplesOf(filesBelow('.', 'package-lock.json').concat(toolResults()))],
  ['Chinese', () => samplesOf([fixture('chinese')], PROSE_SAMPLE)],
  ['Japanese', () => samplesOf([fixture('japanese')], PROSE_SAMPLE)],
  ['Korean', () => samplesOf([fixture('korean')], PROSE_SAMPLE)],
];

describe('compared with a tokenizer', () => {
  it.each(KINDS)(
    'the estimate is within a tenth on average and a quarter at the extremes: %s',
    (_, samples) => {
      const errors = errorsOf(samples());
      expect(quantile(errors, 0.5)).toBeLessThanOrEqual(0.1);
      expect(quantile(errors, 0.95)).toBeLessThanOrEqual(0.25);
    },
  );

  // Written for this, and nothing was fitted to them.
  it('the same holds for texts that were not used to tune it', () => {
    const samples = readdirSync(join(ROOT, 'test/fixtures/texts/unseen')).flatMap((name) =>
      samplesOf([fixture(`unseen/${name.replace(/\.txt$/, '')}`)], UNSEEN_SAMPLE),
    );
    expect(samples.length).toBeGreaterThan(30);
    const errors = errorsOf(samples);
    expect(quantile(errors, 0.5)).toBeLessThanOrEqual(0.1);
    expect(quantile(errors, 0.95)).toBeLessThanOrEqual(0.25);
  });

  it('the same holds for all of them together', () => {
    const errors = KINDS.flatMap(([, samples]) => errorsOf(samples())).toSorted((a, b) => a - b);
    expect(quantile(errors, 0.5)).toBeLessThanOrEqual(0.05);
    expect(quantile(errors, 0.95)).toBeLessThanOrEqual(0.15);
  });

  it.each([
    ['base64', noise(3_000).toString('base64')],
    ['hexadecimal', noise(3_000).toString('hex')],
    ['hits of a search', listing(60)],
    ['a log', log(60)],
    ['a table', Array.from(noise(2_000), (n) => (n * 37) / 8).join(',')],
    ['code without blanks', filesBelow('src/base', '.ts').join('').replaceAll(/\s+/g, '')],
    ['Thai', 'ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอนหรือวรรณยุกต์ '.repeat(20)],
    [
      'Russian',
      'Каждое событие записывается в журнал, и по нему можно восстановить состояние. '.repeat(20),
    ],
    ['a frame', `┌${'─'.repeat(60)}┐\n│ ${'value │ '.repeat(7)}\n`.repeat(20)],
    ['a rule', `${'='.repeat(80)}\n`.repeat(20)],
    ['indented', `${' '.repeat(24)}return value;\n`.repeat(60)],
  ])('the estimate is within a third for text that is not prose: %s', (_, text) => {
    expect(errorsOf([text])[0]).toBeLessThanOrEqual(0.34);
  });
});

describe('estimateTokens', () => {
  it('returns an integer, and 0 for an empty text', () => {
    expect(['', 'a', 'Read the file.', ' ', '\n\n', '\ud800'].map(estimateTokens)).toEqual([
      0, 1, 4, 1, 1, 1,
    ]);
  });

  it.each(['a', 'ee', 'th', 'in', 'acgt', 'ot'])(
    'grows with a run of %j, whatever words its letters form',
    (pair) => {
      const run = pair.repeat(400);
      expect(estimateTokensUnrounded(run)).toBeGreaterThan(run.length / 5);
    },
  );

  it('of the parts is hardly less than of the complete text', () => {
    const text = fc.string({ unit: 'binary', maxLength: 200 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [whole, parts] = [
          estimateTokensUnrounded(a + b),
          estimateTokensUnrounded(a) + estimateTokensUnrounded(b),
        ];
        expect(whole).toBeGreaterThanOrEqual(0);
        expect(parts).toBeGreaterThanOrEqual(whole - 3);
      }),
    );
  });
});

describe('lengthWithin', () => {
  it('ends about where the tokens end', () => {
    for (const text of [fixture('english'), fixture('chinese'), 'x'.repeat(3_000), log(30)]) {
      const half = estimateTokensUnrounded(text) / 2;
      const taken = estimateTokensUnrounded(text.slice(0, prefixLengthWithin(text, half)));
      expect(taken).toBeGreaterThan(half - 4);
      expect(taken).toBeLessThan(half + 4);
      expect(prefixLengthWithin(text, 1e9)).toBe(text.length);
    }
  });
});

it('no text is estimated to take more than the maximum for each character', () => {
  const unit = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom(' ', '\n', 'é', 'ß', 'q', 'X', '7', '.', '_', '中', 'か', '한', 'ж', 'ع', '！'),
  );
  fc.assert(
    fc.property(fc.string({ unit, minLength: 1, maxLength: 60 }), (text) => {
      const max = text.length * MAX_TOKENS_PER_CHARACTER;
      expect(estimateTokensUnrounded(text)).toBeLessThanOrEqual(max);
    }),
    { numRuns: 3_000 },
  );
});
