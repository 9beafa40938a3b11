import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { openFileStore } from '../../src/store/file-store.ts';
import { warnings } from './fixture-data.ts';
import { tempDir } from './fixtures.ts';
import { readLog } from './read-log.ts';

const WRITER = fileURLToPath(new URL('child-writer.ts', import.meta.url));
const KILLS = 20;

/** Starts a writer and kills it a moment after `acks` acknowledgements. Returns the last acknowledgement. */
async function killWriter(
  dataDir: string,
  id: string,
  order: string,
  acks: number,
): Promise<number> {
  const child = spawn(process.execPath, [WRITER, dataDir, id, order], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let heard = '';
  const closed = once(child, 'close');
  child.stdout.on('data', (chunk: Buffer) => {
    const isFirst = heard === '';
    heard += chunk.toString();
    if (isFirst) setTimeout(() => child.kill('SIGKILL'), acks % 10);
  });
  await closed;
  const whole = heard.slice(0, heard.lastIndexOf('\n')).split('\n');
  return Number(whole.at(-1)?.split(' ')[1]);
}

/** Counts the acknowledged batches that are not complete in the log. */
function lostBatches(dataDir: string, id: string, lastAcknowledged: number): number {
  const store = openFileStore({ dataDir, durability: 'fast' });
  store.claim(id);
  const { events, problems } = readLog(store, id);
  expect(problems).toEqual([]);
  const said = new Set(warnings(events).map((text) => text.split(' ').slice(0, 2).join(' ')));
  let lost = 0;
  for (let batch = 0; batch <= lastAcknowledged; batch += 1) {
    if (!said.has(`${batch} a`) || !said.has(`${batch} b`)) lost += 1;
  }
  return lost;
}

it(`kill -9 at ${KILLS} moments loses no acknowledged event`, async () => {
  const dataDir = tempDir();
  for (let round = 0; round < KILLS; round += 1) {
    const id = `task${String(round).padStart(8, '0')}`;
    const last = await killWriter(dataDir, id, 'write-first', round * 7);
    expect(last).toBeGreaterThanOrEqual(0);
    expect([id, lostBatches(dataDir, id, last)]).toEqual([id, 0]);
  }
});

it('the check notices a writer that acknowledges before it writes', async () => {
  const dataDir = tempDir();
  let lost = 0;
  for (let round = 0; round < 60 && lost === 0; round += 1) {
    const id = `task${String(round).padStart(8, '0')}`;
    const last = await killWriter(dataDir, id, 'acknowledge-first', round * 3);
    lost += lostBatches(dataDir, id, last);
  }
  expect(lost).toBeGreaterThan(0);
});
