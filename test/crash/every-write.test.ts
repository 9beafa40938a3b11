import { expect, it } from 'vitest';
import { PowerLossFiles } from '../store/power-loss-files.ts';
import { wrongAfter, wrongOn } from './inspect-disk.ts';
import { ReplayedDisk, replay, type DiskStep } from './recorded-files.ts';
import { acknowledgedAt, openOver, recordRun, type RecordedRun } from './recorded-run.ts';
import { delayingBatch, losingBatch } from './sabotage.ts';
import { effectsMeant, IN_A_LINE, MAIN, THREE_LEVELS } from './scenario.ts';
import { readLog } from '../store/read-log.ts';

/** Batches of the short scenario, at least: fewer, and the mutations prove little. */
const BATCHES = 80;

/** From here on the store finds all its directories. */
function firstLog({ steps }: RecordedRun): number {
  return steps.findIndex((step) => step.kind === 'openNew' && step.path.endsWith('.jsonl'));
}

function isLogWrite(step: DiskStep): step is Extract<DiskStep, { kind: 'write' }> {
  return step.kind === 'write' && /\/tasks\/.*\.jsonl$/.test(step.path);
}

it('the scenario runs to its end on three levels', async () => {
  const run = await recordRun(THREE_LEVELS);
  const created = run.printed.flatMap(({ what }) =>
    what.type === 'task.created' ? [what.spec.depth] : [],
  );
  expect({
    status: run.outcome.envelope.data.status,
    result: run.outcome.envelope.data.result,
    faults: run.outcome.faults,
    depths: created.toSorted(),
    effects: run.effects.length,
  }).toEqual({
    status: 'completed',
    result: THREE_LEVELS.get(MAIN)?.at(-1)?.text,
    faults: [],
    depths: [0, 1, 1, 1, 2, 2, 2],
    effects: effectsMeant(THREE_LEVELS),
  });
});

it('a process that dies after any step, or within any write, loses nothing that was acknowledged', async () => {
  const run = await recordRun(THREE_LEVELS);
  const disk = new ReplayedDisk(new PowerLossFiles());
  const start = firstLog(run);
  const wrong: unknown[] = [];
  for (const [index, step] of run.steps.entries()) {
    const acknowledged = acknowledgedAt(run, index);
    if (index >= start) wrong.push(...wrongOn(disk.files, acknowledged));
    if (isLogWrite(step)) {
      const half = Math.floor(step.bytes.length / 2);
      disk.doHalf(step, half);
      wrong.push(...wrongOn(disk.files, acknowledged));
      disk.undoHalf(step, half);
    }
    disk.do(step);
  }
  expect([...wrong, ...wrongOn(disk.files, acknowledgedAt(run, run.steps.length))]).toEqual([]);
});

it('after any such death every task is listed and can be taken over', async () => {
  const run = await recordRun(IN_A_LINE);
  const wrong: unknown[] = [];
  for (let steps = firstLog(run); steps < run.steps.length; steps += 1) {
    const store = openOver(replay(run.steps.slice(0, steps)), { owners: 1 });
    const ids = store.list().map((task) => task.id);
    const created = acknowledgedAt(run, steps).printed.filter(({ seq }) => seq === 0);
    if (!created.every(({ task }) => ids.includes(task)))
      wrong.push(`${steps}: not all are listed`);
    for (const id of ids) {
      const log = store.claim(id);
      log.append([{ type: 'warning', message: 'taken over' }]);
      const { events, problems } = readLog(store, id);
      const inOrder = events.every(({ seq }, index) => seq === index);
      if (!inOrder || problems.length > 0) wrong.push(`${steps}: ${id} is not whole`);
    }
  }
  expect(wrong).toEqual([]);
});

it('the check notices each single write to a log that is left out', async () => {
  const run = await recordRun(IN_A_LINE);
  const unnoticed = run.steps.flatMap((step, index) => {
    if (!isLogWrite(step)) return [];
    const files = replay(run.steps.toSpliced(index, 1));
    const wrong = wrongOn(files, acknowledgedAt(run, run.steps.length));
    return wrong.length === 0 ? [`${index}: ${step.bytes.toString()}`] : [];
  });
  expect(unnoticed).toEqual([]);
});

it('the check notices each single batch that is acknowledged and never written', async () => {
  const all = losingBatch(-1);
  await recordRun(IN_A_LINE, all.wrap);
  const unnoticed: unknown[] = [];
  const byRequests = new Set<string>();
  const byEffects = new Set<string>();
  for (let number = 0; number < all.asked(); number += 1) {
    const saboteur = losingBatch(number);
    const run = await recordRun(IN_A_LINE, saboteur.wrap);
    const files = replay(run.steps);
    const told = acknowledgedAt(run, run.steps.length);
    const [victim] = saboteur.unwritten;
    const type = victim?.type ?? '';
    if (wrongOn(files, told).length === 0) unnoticed.push(victim);
    const quiet = { printed: [], requests: [], effects: [] };
    const { requests, effects } = told;
    if (wrongOn(files, { ...quiet, requests }).length > 0) byRequests.add(type);
    if (wrongOn(files, { ...quiet, effects }).length > 0) byEffects.add(type);
  }
  expect(all.asked()).toBeGreaterThan(BATCHES);
  expect(unnoticed).toEqual([]);
  // Also where nobody reads stdout: by what the model was told, and by what was changed.
  expect([...byRequests]).toEqual(
    expect.arrayContaining(['turn.started', 'turn.ended', 'call.ended', 'child.created']),
  );
  expect([...byEffects]).toEqual(expect.arrayContaining(['call.started', 'child.created']));
});

it('the check notices each single batch that is acknowledged before it is written', async () => {
  const all = delayingBatch(-1);
  await recordRun(IN_A_LINE, all.wrap);
  const unnoticed: unknown[] = [];
  for (let number = 0; number < all.asked(); number += 1) {
    const saboteur = delayingBatch(number);
    const run = await recordRun(IN_A_LINE, saboteur.wrap);
    expect(wrongAfter(run, run.steps.length)).toEqual([]);
    const [victim] = saboteur.unwritten;
    const told = run.printed.find(
      ({ what }) => what.task === victim?.task && what.seq === victim.seq,
    );
    if (wrongAfter(run, told?.at ?? run.steps.length).length === 0) unnoticed.push(victim);
  }
  expect(all.asked()).toBeGreaterThan(BATCHES);
  expect(unnoticed).toEqual([]);
});
