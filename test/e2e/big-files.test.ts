import { closeSync, ftruncateSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { grep, handle, read } from './file-run.ts';
import { bash } from './world.ts';

const MEGABYTE = 2 ** 20;

function sparseFile(path: string, bytes: number): void {
  const file = openSync(path, 'w');
  ftruncateSync(file, bytes);
  closeSync(file);
}

function longLine(path: string, megabytes: number): void {
  const file = openSync(path, 'w');
  const piece = 'x'.repeat(MEGABYTE);
  for (let n = 0; n < megabytes; n += 1) writeSync(file, piece);
  writeSync(file, 'needle');
  closeSync(file);
}

describe('what is too big', () => {
  it('is cut or refused with its size, and memory stays near that of a small file', async () => {
    const huge = (workspace: string) => sparseFile(join(workspace, 'huge.dat'), 1024 * MEGABYTE);
    const long = (workspace: string) => longLine(join(workspace, 'long.txt'), 50);
    const small = (workspace: string) => writeFileSync(join(workspace, 'a.txt'), 'needle\n');
    const needle = grep({ pattern: 'needle', output_mode: 'content' });
    const plain = await handle(small, [read('a.txt'), needle]);
    const cases = [
      { ...(await handle(huge, [read('huge.dat'), needle])), of: /too large|bytes|GB|binary/i },
      {
        ...(await handle(huge, [
          { name: 'Read', input: { file_path: 'huge.dat', offset: 9, limit: 5 } },
        ])),
        of: /too large|bytes|GB|binary/i,
      },
      { ...(await handle(long, [read('long.txt'), needle])), of: /cut|long|bytes|limit/i },
      {
        ...(await handle(() => {}, [bash('yes | head -c 40000000')], ['--allow', 'Bash'])),
        of: /cut|bytes|omitted/i,
      },
    ];
    for (const { results, peak, of } of cases) {
      expect(results[0]?.text).toMatch(of);
      for (const { text } of results) expect(text.length).toBeLessThan(300_000);
      expect(peak).toBeLessThanOrEqual(2 * plain.peak);
    }
  });

  it('is no bigger a problem in a message with a hundred calls', async () => {
    const calls = Array.from({ length: 101 }, () => read('long.txt'));
    const plain = await handle(
      (workspace) => longLine(join(workspace, 'long.txt'), 1),
      calls.slice(0, 1),
    );
    const many = await handle((workspace) => longLine(join(workspace, 'long.txt'), 20), calls);
    expect(many.results.length).toBe(101);
    expect(many.results[100]?.text).toContain('at most 100 calls');
    expect(many.peak).toBeLessThanOrEqual(2 * plain.peak);
  });
});
