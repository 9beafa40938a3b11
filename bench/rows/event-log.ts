import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Fixture } from '../harness/fixture.ts';
import type { Measurement } from '../harness/measurement.ts';
import { printedNumber, programPath, runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';
import { median } from '../harness/statistics.ts';
import { EVENTS_PER_TURN } from '../programs/turn-events.ts';

const ROUNDS = 3;
const LOGS = 1000;
const TURNS = 40;

/** Writing events through the store, compared with writing the same lines directly. */
export const eventLog: Row = {
  name: 'event-log',
  async measure(): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    const samples: number[] = [];
    const bare: number[] = [];
    const creating: number[] = [];
    const syncing: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const data = fixture.path(`data-${round}`);
      const copy = fixture.path(`copy-${round}`);
      mkdirSync(copy);
      const options = { cwd: fixture.workspace, env: fixture.environment(fixture.root) };
      const store = await runProgram(
        [programPath('store-writes.ts'), data, String(LOGS), String(TURNS)],
        options,
      );
      const direct = await runProgram(
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
      bare.push(printedNumber(direct, 'writeMs'));
    }
    const events = LOGS * TURNS * EVENTS_PER_TURN;
    return [
      {
        title: `event log: ${events.toLocaleString('en')} events over ${LOGS.toLocaleString('en')} logs`,
        unit: 'ms',
        samples,
        reference: { title: 'bare writeSync', samples: bare },
        bound: { kind: 'ratio', max: 3, goal: 2 },
        notes: [
          `one append per event, ${EVENTS_PER_TURN} to a log and then to the next; not counted: creating the logs ${median(creating).toFixed(0)} ms, syncing all of them at the end ${median(syncing).toFixed(0)} ms`,
        ],
      },
    ];
  },
};
