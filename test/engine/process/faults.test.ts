import { describe, expect, test } from 'vitest';
import { stopOrder } from '../../../src/engine/task/stop-order.ts';
import { HAS_BUBBLEWRAP, Place } from '../../sys/sandbox/support.ts';
import { confineTo, runFault as runFaultIn, UNCONFINED } from './support.ts';

const LIMIT_FAULTS: readonly (readonly [tool: string, limits: object, message: RegExp])[] = [
  ['AllocateHeap', { heapMb: 64 }, /used more than 64 MB of heap \(limit process\.heap_mb = 64\)$/],
  [
    'AllocateBuffers',
    { memoryMb: 400 },
    /and its commands used \d{3,5} MB of memory together \(limit process\.memory_mb = 400\)$/,
  ],
  [
    'Spin',
    { cpuSeconds: 2 },
    /used 2 seconds of processor time \(limit process\.cpu_seconds = 2\)$/,
  ],
  ['Print', {}, /printed more than 1000000 bytes \(limit printed_bytes\)$/],
  ['PrintErrors', {}, /printed more than 1000000 bytes \(limit printed_bytes\)$/],
  ['Flood', {}, /sent more than 256 MB during a call \(limit process_messages\)$/],
  ['FloodUnknown', {}, /sent more than 256 MB during a call \(limit process_messages\)$/],
];

const CRASHES: readonly (readonly [tool: string, message: string])[] = [
  ['Die', 'was killed by SIGKILL'],
  [
    'Garbage',
    'sent a message with more than 2097152 bytes of JSON or 67108864 other bytes, which Muster cannot read',
  ],
  ['NoJson', 'sent a message that is not JSON, which Muster cannot read'],
  ['WrongOutput', 'sent a message with wrong fields, which Muster cannot read'],
  ['WrongPort', 'sent a message with wrong fields, which Muster cannot read'],
  ['WrongAsk', 'sent a message with wrong fields, which Muster cannot read'],
  ['CloseChannel', 'sent the end of its messages, which Muster cannot read'],
];

const SURROUNDINGS = [
  ['without a sandbox', true, () => UNCONFINED],
  ['in the sandbox', HAS_BUBBLEWRAP, () => confineTo(new Place())],
] as const;

describe.each(SURROUNDINGS)('a process %s that misbehaves', (_, canRun, findSurroundings) => {
  const it = test.runIf(canRun);
  const runFault = (...[name, limits, options]: Parameters<typeof runFaultIn>) =>
    runFaultIn(name, limits, { ...options, surroundings: findSurroundings() });

  it.for(LIMIT_FAULTS)('ends at the limit: %s', async ([tool, limits, message]) => {
    const { output, error } = await runFault(tool, limits);
    expect(error).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringMatching(message),
    });
    expect(output).toEqual({ text: `No result: ${error?.message}.`, error: 'LIMIT_EXCEEDED' });
  });

  it.for(CRASHES)('is ended, and the cause is named: %s', async ([tool, text]) => {
    const { output, error } = await runFault(tool);
    const message = `the process of the task ${text}`;
    expect(error).toMatchObject({ code: 'INTERNAL_ERROR', message });
    expect(output).toEqual({ text: `No result: ${message}.`, error: 'INTERNAL_ERROR' });
  });

  it('leaves the outcome of a call with effects unknown', async () => {
    const { output, error } = await runFault('Exit');
    const message = 'the process of the task ended with exit code 3';
    expect(error).toMatchObject({ code: 'INTERNAL_ERROR', message });
    expect(output).toEqual({
      text: `Its outcome is unknown: ${message} while it ran. Look before you do it again.`,
      error: 'CANCELLED',
    });
  });

  it('is killed if a call does not stop when its time is over', async () => {
    const { output, error } = await runFault(
      'Spin',
      {},
      { abortAfter: { ms: 500, reason: 'time' } },
    );
    const message =
      'the process of the task did not end its call of Spin, although the limit tool_seconds = 1 was reached';
    expect(error).toMatchObject({ code: 'LIMIT_EXCEEDED', message });
    expect(output).toEqual({ text: `No result: ${message}.`, error: 'LIMIT_EXCEEDED' });
  });

  it('is killed without an error if a call does not stop with its task', async () => {
    const reason = stopOrder('user', 'the user stopped it');
    const { output, error } = await runFault('Spin', {}, { abortAfter: { ms: 500, reason } });
    expect(error).toBeNull();
    expect(output).toMatchObject({ error: 'CANCELLED', forced: true });
  });
});
