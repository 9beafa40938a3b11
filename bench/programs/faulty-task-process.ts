import { writeSync } from 'node:fs';
import { encodeFrame } from '../../src/engine/process/frames.ts';
import { serveCalls } from '../../src/engine/process/serve-calls.ts';
import { CHANNEL_DESCRIPTOR } from '../../src/sys/processes/process-group.ts';
import { PROCESS_TOOLS } from '../../src/tools/process-tools.ts';
import { createFaultTools } from '../harness/fault-tools.ts';

/** The program of the process of a task, with tools that never end. */
serveCalls([
  ...PROCESS_TOOLS,
  ...createFaultTools({
    Spin: () => {
      for (;;);
    },
    Allocate: () => {
      for (const kept: Buffer[] = []; ;) kept.push(Buffer.alloc(4_000_000, 1));
    },
    Flood: () => {
      const message = encodeFrame({ type: 'progress', number: 1, line: 'x' });
      for (;;) writeSync(CHANNEL_DESCRIPTOR, message);
    },
  }),
]);
