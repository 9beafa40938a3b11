import { expect } from 'vitest';
import { eventsOf, runMuster, type Finished, type Running } from './muster.ts';
import { describe as describeProcesses, findMarked } from './processes.ts';
import type { World } from './world.ts';

/**
 * The maximum time from a signal to the end of a run. A run ends within 3 s on a machine without other work. All
 * commands that the tests start would run for a minute.
 */
const MAX_MS = 30_000;

/** Waits for a moment of a run; rejects when the run ends without it. */
export async function reach(running: Running, moment: Promise<unknown>): Promise<void> {
  const ended = running.finished.then(({ stdout, stderr }) => {
    throw new Error(`the run has ended: ${stdout}${stderr}`);
  });
  await Promise.race([moment, ended]);
  // Later it may end as it likes.
  ended.catch(() => {});
}

/** Rejects when the run goes on. */
export async function finishedSoon(finished: Promise<Finished>): Promise<Finished> {
  let timer;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it runs ${MAX_MS} ms after the signal`)), MAX_MS);
  });
  try {
    return await Promise.race([finished, late]);
  } finally {
    clearTimeout(timer);
  }
}

export function expectNothingLeft(world: World): void {
  expect(describeProcesses(findMarked(world.mark))).toBe('');
}

/**
 * Every task that began says in its log that it was stopped, or killed where a command had to be, and
 * every call has its outcome.
 */
export async function expectStopped(
  world: World,
  status: 'stopped' | 'killed' = 'stopped',
): Promise<void> {
  const list = await runMuster(world.sandbox, ['tasks', 'list', '--json']);
  const tasks: readonly { readonly id: string; readonly status: string }[] = JSON.parse(
    list.stdout,
  );
  expect(tasks.length).toBeGreaterThan(0);
  expect(tasks.map(({ status }) => status)).toEqual(tasks.map(() => status));
  for (const { id } of tasks.slice(0, 2)) {
    const log = await runMuster(world.sandbox, ['tasks', 'log', id, '--json']);
    const events = eventsOf(log);
    expect(events.at(-1)).toMatchObject({
      type: 'task.ended',
      end: { status, error: { code: 'CANCELLED' } },
    });
    const asked = events.flatMap((event) =>
      event.type === 'turn.ended'
        ? event.message.content.flatMap((part) => (part.type === 'tool_call' ? [part.id] : []))
        : [],
    );
    const answered = events.flatMap((event) =>
      event.type === 'call.ended' || event.type === 'call.refused' ? [event.callId] : [],
    );
    expect(answered.toSorted()).toEqual(asked.toSorted());
  }
}
