import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { errorMessage } from '../../src/base/errors.ts';
import { spawnFakeModel } from '../../src/testing/fake-model-process.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import { Sandbox } from '../e2e/muster.ts';
import { expectNoViolations } from '../no-violations.ts';
import type { Acknowledged } from './acknowledged.ts';
import { readLogs, wrongIn, type Logs } from './check-logs.ts';
import { inspectKilled } from './inspect-killed.ts';
import { runAndKill, type KilledRun, type Range } from './killed-run.ts';
import { earlier, killMoments, type WholeRun } from './moments.ts';
import { RequestLog } from './request-log.ts';
import { effectsMeant, rulesOf, THREE_LEVELS } from './scenario.ts';

declare module 'vitest' {
  interface ProvidedContext {
    kills?: number;
  }
}

const KILLS = inject('kills') ?? 40;
/** `MUSTER_CRASH_SEED` repeats the moments of an earlier run. */
const SEED = Number(process.env['MUSTER_CRASH_SEED'] ?? Date.now() % 1_000_000);
const AT_ONCE = 3;

let place: Sandbox;
let range: Range;

beforeAll(async () => {
  place = new Sandbox();
  const script = place.write('script.json', JSON.stringify({ script: rulesOf(THREE_LEVELS) }));
  const log = join(place.root, 'requests.jsonl');
  writeFileSync(log, '');
  const model = await spawnFakeModel({ script, log });
  range = { scenario: THREE_LEVELS, model, log: new RequestLog(log) };
});

afterAll(async () => {
  await range.model.close();
  const { violations } = range.log;
  range.log.close();
  place[Symbol.dispose]();
  expectNoViolations({ violations });
});

function sizeOf({ finished, acknowledged, ms }: KilledRun): WholeRun {
  return {
    ms: Math.round(ms),
    lines: finished.stdout.split('\n').length - 1,
    requests: acknowledged.requests.length,
  };
}

/** A run that is left alone does all that the scenario says. */
async function measureWholeRun(): Promise<WholeRun> {
  const run = await runAndKill(range, null);
  try {
    const { finished, acknowledged } = run;
    expect({
      wrong: await inspectKilled(run),
      code: finished.code,
      effects: acknowledged.effects.length,
    }).toEqual({ wrong: [], code: 0, effects: effectsMeant(THREE_LEVELS) });
    return sizeOf(run);
  } finally {
    run.sandbox[Symbol.dispose]();
  }
}

it(
  `kill -9 at ${KILLS} moments loses nothing that was acknowledged`,
  { timeout: 240_000 + KILLS * 20_000 },
  async () => {
    // As many at once as later, so that the moments by time reach their ends, too.
    const sizes = await Promise.all(Array.from({ length: AT_ONCE }, measureWholeRun));
    const size = sizes.reduce((a, b) => (a.ms > b.ms ? a : b));
    console.log(`seed ${SEED}; a whole run: ${JSON.stringify(size)}`);
    const wrong: unknown[] = [];
    let kills = 0;
    const waiting = [...killMoments(KILLS, SEED, size)];
    const worker = async (): Promise<void> => {
      for (let moment = waiting.shift(); moment !== undefined; moment = waiting.shift()) {
        const run = await runAndKill(range, moment);
        try {
          const found = await inspectKilled(run);
          if (found.length > 0) wrong.push({ moment, found });
          if (run.finished.signal === 'SIGKILL') kills += 1;
          else waiting.push(earlier(moment));
        } catch (thrown) {
          wrong.push({ moment, found: [errorMessage(thrown)] });
        } finally {
          run.sandbox[Symbol.dispose]();
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect({ seed: SEED, wrong }).toEqual({ seed: SEED, wrong: [] });
    expect(kills).toBe(KILLS);
  },
);

/** The logs with one event less, as if it had never been written. */
function without(logs: Logs, id: string, index: number): Logs {
  const { events = [], problems = [] } = logs.get(id) ?? {};
  const left: TaskEvent[] = [];
  for (const event of events.toSpliced(index, 1)) left.push({ ...event, seq: left.length });
  return new Map([...logs, [id, { events: left, problems }]]);
}

it('the check notices each single event that is missing from the logs of the built program', async () => {
  const { sandbox, acknowledged } = await runAndKill(range, null);
  const store = openFileStore({ dataDir: sandbox.data, durability: 'safe' });
  const logs = readLogs(
    store,
    store.list().map((task) => task.id),
  );
  const nothing: Acknowledged = { printed: [], requests: [], effects: [] };
  const { requests, effects } = acknowledged;
  const noticed = { byAll: 0, byRequests: new Set<string>(), byEffects: new Set<string>() };
  const getBlob = (hash: string): string => store.getBlob(hash);
  const isWrong = (less: Logs, told: Acknowledged): boolean =>
    wrongIn(less, told, getBlob).length > 0;
  for (const [id, { events }] of logs) {
    for (const [index, { type }] of events.entries()) {
      const less = without(logs, id, index);
      if (isWrong(less, acknowledged)) noticed.byAll += 1;
      if (index === 0) continue;
      const { byRequests, byEffects } = noticed;
      if (!byRequests.has(type) && isWrong(less, { ...nothing, requests })) byRequests.add(type);
      if (!byEffects.has(type) && isWrong(less, { ...nothing, effects })) byEffects.add(type);
    }
  }
  await store.close();
  sandbox[Symbol.dispose]();
  expect(noticed.byAll).toBe(acknowledged.printed.length);
  expect([...noticed.byRequests]).toEqual(
    expect.arrayContaining(['turn.started', 'turn.ended', 'call.ended']),
  );
  expect([...noticed.byEffects]).toContain('call.started');
});
