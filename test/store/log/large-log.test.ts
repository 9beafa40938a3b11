import { execFile } from 'node:child_process';
import { appendFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { tempDir } from '../fixtures.ts';

const CHILD = fileURLToPath(new URL('../child-large-log.ts', import.meta.url));
const MEGABYTES = 100;
/** Otherwise V8 lets garbage pile up as long as the machine has memory. */
const EAGER = ['--max-old-space-size=64', '--max-semi-space-size=2'];

interface Told {
  readonly seen: number;
  /** Bytes. */
  readonly grown: number;
}

async function run(dataDir: string, what: string): Promise<Told> {
  const args = [...EAGER, CHILD, dataDir, what, String(MEGABYTES)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}

it('claims, visits and lists a log of 100 MB in less memory than its size', async () => {
  const dataDir = tempDir();
  await run(dataDir, 'write');
  const path = join(dataDir, 'tasks', 'task00000001.jsonl');
  // A damaged line and a torn tail: the claim must rewrite the log.
  appendFileSync(path, `damaged\n${'z'.repeat(1_000_000)}`);
  const { size } = statSync(path);
  expect(size).toBeGreaterThan(MEGABYTES * 900_000);
  const whole = await run(dataDir, 'whole');
  const list = await run(dataDir, 'list');
  const scan = await run(dataDir, 'scan');
  const claim = await run(dataDir, 'claim');
  expect(whole.grown).toBeGreaterThan(size);
  for (const { grown } of [list, scan, claim]) expect(grown).toBeLessThan(size / 2);
  expect(claim.seen).toBe(scan.seen);
  expect(scan.seen).toBeGreaterThan(20_000);
  expect(statSync(path).size).toBeLessThan(size - 900_000);
});
