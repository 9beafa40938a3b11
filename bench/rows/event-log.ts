import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Figure } from '../harness/figure.ts';
import { Place } from '../harness/place.ts';
import { printedNumber, programPath, runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';
import { median } from '../harness/statistics.ts';
import { EVENTS_PER_TURN } from '../programs/turn-events.ts';

const ROUNDS = 3;
const LOGS = 1000;
const TURNS = 40;

/** Writing events through the store, beside writing the same lines with nothing around it. */
export const eventLog: Row = {
  name: 'event-log',
  async measure(): Promise<readonly Figure[]> {
    using place = new Place();
    const samples: number[] = [];
    const floor: number[] = [];
    const creating: number[] = [];
    const syncing: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const data = place.path(`data-${round}`);
      const copy = place.path(`copy-${round}`);
      mkdirSync(copy);
      const options = { cwd: place.workspace, env: place.environment(place.root) };
      const store = await runProgram(
        [programPath('store-writes.ts'), data, String(LOGS), String(TURNS)],
        options,
      );
      const bare = await runProgram(
        [
          programPath('bare-writes.mjs'),
          join(data, 'tasks'),
          copy,
          String(EVENTS_PER_TURN),
          String(TURNS),
        ],
        options,
      );
      samples.push(printedNumber(store, 'writeMs'));
      creating.push(printedNumber(store, 'createMs'));
      syncing.push(printedNumber(store, 'syncMs'));
      floor.push(printedNumber(bare, 'writeMs'));
    }
    const events = LOGS * TURNS * EVENTS_PER_TURN;
    return [
      {
        what: `event log: ${events.toLocaleString('en')} events over ${LOGS.toLocaleString('en')} logs`,
        unit: 'ms',
        samples,
        floor: { what: 'bare writeSync', samples: floor },
        bound: { kind: 'ratio', most: 3, goal: 2 },
        notes: [
          `an append an event, ${EVENTS_PER_TURN} to a log and then the next; making the logs ${median(creating).toFixed(0)} ms, syncing all once at the end ${median(syncing).toFixed(0)} ms, both not counted`,
        ],
      },
    ];
  },
};
