import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { openFileStore } from '../../src/store/file-store.ts';
import { taskSpec } from './fixture-data.ts';
import { tempDir } from './fixtures.ts';
import { readLog } from './read-log.ts';

const CLAIMER = fileURLToPath(new URL('child-claimer.ts', import.meta.url));

function startClaimer(dataDir: string): ChildProcess {
  const child = spawn(process.execPath, [CLAIMER, dataDir], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

async function nextLine(lines: AsyncIterator<string>): Promise<string> {
  const next = await lines.next();
  return next.done === true ? '' : next.value;
}

it('gives each log of a killed process to one of three processes that race for it', async () => {
  const dataDir = tempDir();
  const ids = Array.from({ length: 60 }, (_, n) => `task${String(n).padStart(8, '0')}`);
  const store = openFileStore({ dataDir, durability: 'fast' });
  for (const id of ids) store.create(taskSpec(id)).close();
  await store.close();

  const claimers = [1, 2, 3, 4].map(() => {
    const child = startClaimer(dataDir);
    if (child.stdout === null) throw new Error('no stdout');
    return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
  });
  for (const { lines } of claimers) expect(await nextLine(lines)).toBe('ready');

  const [killed, ...rivals] = claimers;
  if (killed === undefined) throw new Error('no process');
  killed.child.stdin?.write(`${ids.join('\n')}\n`);
  for (const id of ids) expect(await nextLine(killed.lines)).toBe(`${id} got`);
  killed.child.kill('SIGKILL');
  await once(killed.child, 'exit');

  for (const { child } of rivals) child.stdin?.write(`${ids.join('\n')}\n`);
  const answers: string[] = [];
  for (const { lines } of rivals) {
    for (const _ of ids) answers.push(await nextLine(lines));
  }
  const expected = ids.flatMap((id) => [`${id} got`, `${id} CONFLICT`, `${id} CONFLICT`]);
  expect(answers.toSorted()).toEqual(expected.toSorted());
  for (const { child } of rivals) {
    child.stdin?.end();
    await once(child, 'exit');
  }
  expect(readLog(openFileStore({ dataDir, durability: 'fast' }), ids[0] ?? '')).toMatchObject({
    problems: [],
    events: { length: 4 },
  });
});
