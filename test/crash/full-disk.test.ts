import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { errorMessage, MusterError } from '../../src/base/errors.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import { PowerLossFiles } from '../store/power-loss-files.ts';
import type { Acknowledged, Effect, Told } from './acknowledged.ts';
import { runEngine } from './engine-run.ts';
import { idsOn, wrongOn } from './inspect-disk.ts';
import { DATA_DIR, openOver } from './recorded-run.ts';
import { SIDE_BY_SIDE } from './scenario.ts';

interface Shortage {
  /** The write (from 0) at which the disk is full: half of it still fits. */
  readonly from: number;
  /** How many writes after it find no room. */
  readonly lasts: number;
}

class FullDisk extends PowerLossFiles {
  writes = 0;
  readonly #shortage: Shortage;

  constructor(shortage: Shortage) {
    super();
    this.#shortage = shortage;
  }

  override write(fd: number, bytes: Uint8Array): number {
    const { from, lasts } = this.#shortage;
    const number = this.writes;
    this.writes += 1;
    if (number === from) return super.write(fd, bytes.subarray(0, Math.ceil(bytes.length / 2)));
    if (number > from && number <= from + lasts) {
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    }
    return super.write(fd, bytes);
  }
}

interface Aftermath {
  readonly files: FullDisk;
  readonly acknowledged: Acknowledged;
  /** How it ended: a status, or how it could not start. */
  readonly ending: string;
  /** All that was said about it. */
  readonly errors: readonly string[];
}

const HUNG = 'it hangs';
const AT_WORK = 'it is at work after its end';
/** Whoever is still at work shows it by then. */
const LATE_MS = 5;
const PATIENCE_MS = 60_000;

async function runOn(shortage: Shortage): Promise<Aftermath> {
  const files = new FullDisk(shortage);
  const printed: TaskEvent[] = [];
  const requests: Told[] = [];
  const effects: Effect[] = [];
  const acknowledged = { printed, requests, effects };
  const patience = new AbortController();
  const run = async (): Promise<Aftermath> => {
    try {
      const { envelope, faults } = await runEngine(openOver(files), SIDE_BY_SIDE, {
        printed: (event) => void printed.push(event),
        sent: (request) => void requests.push(request),
        made: (effect) => void effects.push(effect),
      });
      const ends = printed.flatMap((event) =>
        event.type === 'task.ended' ? [event.end.error] : [],
      );
      // Children of a task whose log is broken are stopped, and say just that.
      const broken = ends.filter((error) => error !== null && error.code !== 'CANCELLED');
      const errors = [...broken.map((error) => error?.message ?? ''), ...faults.map(errorMessage)];
      if (envelope.error !== null) errors.push(envelope.error.message);
      const told = printed.length + requests.length + effects.length;
      await sleep(LATE_MS);
      const late = printed.length + requests.length + effects.length - told;
      const ending = late === 0 ? envelope.data.status : AT_WORK;
      if (envelope.error === null && ending !== 'completed') errors.push('no error is told');
      return { files, acknowledged, ending, errors };
    } catch (thrown) {
      const ending = thrown instanceof MusterError ? 'not started' : 'thrown';
      return { files, acknowledged, ending, errors: [errorMessage(thrown)] };
    }
  };
  const hung: Aftermath = { files, acknowledged, ending: HUNG, errors: [] };
  // It is taken back when the run was faster: then nobody waits for it any more.
  const wait = sleep(PATIENCE_MS, hung, { signal: patience.signal }).catch(() => hung);
  const aftermath = await Promise.race([run(), wait]);
  patience.abort();
  return aftermath;
}

/** Logs that don't end with a whole line. */
function halfLogs(files: FullDisk): readonly string[] {
  return idsOn(files).filter((id) => {
    const text = files.readFile(`${DATA_DIR}/tasks/${id}.jsonl`).toString();
    return text !== '' && !text.endsWith('\n');
  });
}

const CLEAR = /^cannot .+: ENOSPC: .+; free some space on that disk$/;

describe.each([
  { name: 'for one write', lasts: 1 },
  { name: 'for good', lasts: Number.POSITIVE_INFINITY },
])('a disk that is full $name', ({ lasts }) => {
  it('ends the run with a clear error or lets it continue, at any write', async () => {
    const { files } = await runOn({ from: Number.POSITIVE_INFINITY, lasts: 0 });
    expect(files.writes).toBeGreaterThan(80);
    const wrong: unknown[] = [];
    const endings = new Set<string>();
    for (let from = 0; from < files.writes; from += 1) {
      const { files: left, acknowledged, ending, errors } = await runOn({ from, lasts });
      endings.add(ending);
      const unclear = errors.filter((error) => !CLEAR.test(error));
      const lost = wrongOn(left, acknowledged);
      const half = halfLogs(left);
      const isWrong = ending === HUNG || ending === AT_WORK || ending === 'thrown';
      if (unclear.length + lost.length + half.length > 0 || isWrong) {
        wrong.push({ from, ending, unclear, lost, half });
      }
    }
    expect(wrong).toEqual([]);
    expect(endings).toContain('not started');
  });
});
