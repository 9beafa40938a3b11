import { readSync, writeSync } from 'node:fs';
import { systemErrorCode } from '../../../src/base/errors.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import { CHANNEL_DESCRIPTOR } from '../../../src/sys/processes/process-group.ts';

type Fault = (input: { readonly size?: number }) => Promise<never> | never;

const never = (): Promise<never> => new Promise(() => {});

/** Writes without end, however slow the reader is. */
function writeForever(descriptor: number, bytes: Buffer): never {
  for (;;) {
    try {
      writeSync(descriptor, bytes);
    } catch (thrown) {
      // Node may have made stderr non-blocking.
      if (systemErrorCode(thrown) !== 'EAGAIN') throw thrown;
    }
  }
}

/** Builds a frame as the process and Muster exchange them. */
function frame(json: string, body = Buffer.alloc(0)): Buffer {
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(Buffer.byteLength(json), 0);
  lengths.writeUInt32BE(body.length, 4);
  return Buffer.concat([lengths, Buffer.from(json), body]);
}

/** What a process can do wrong, by the name of the tool that does it. */
const FAULTS: Readonly<Record<string, Fault>> = {
  AllocateHeap: () => {
    for (const kept: string[][] = []; ;)
      kept.push(Array.from({ length: 10_000 }, () => 'x'.repeat(9)));
  },
  AllocateBuffers: () => {
    for (const kept: Buffer[] = []; ;) kept.push(Buffer.alloc(8_000_000, 1));
  },
  Spin: () => {
    for (;;);
  },
  Exit: () => process.exit(3),
  Die: () => {
    process.kill(process.pid, 'SIGKILL');
    return never();
  },
  Print: () => writeForever(1, Buffer.alloc(65_536, 'x')),
  PrintErrors: () => writeForever(2, Buffer.alloc(65_536, 'x\n')),
  Flood: () => writeForever(CHANNEL_DESCRIPTOR, frame('{"type":"progress","number":1,"line":"x"}')),
  FloodUnknown: () =>
    writeForever(CHANNEL_DESCRIPTOR, frame('{"type":"output","number":9,"output":{}}')),
  Garbage: () => {
    writeSync(CHANNEL_DESCRIPTOR, Buffer.alloc(1_000, 'x'));
    return never();
  },
  NoJson: () => {
    writeSync(CHANNEL_DESCRIPTOR, frame('{"type":'));
    return never();
  },
  WrongOutput: () => {
    writeSync(CHANNEL_DESCRIPTOR, frame('{"type":"output","number":1,"output":{"text":7}}'));
    return never();
  },
  WrongPort: () => {
    writeSync(
      CHANNEL_DESCRIPTOR,
      frame('{"type":"query","number":1,"port":"constructor","args":[]}'),
    );
    readSync(CHANNEL_DESCRIPTOR, Buffer.alloc(10));
    return never();
  },
  WrongAsk: () => {
    writeSync(CHANNEL_DESCRIPTOR, frame('{"type":"ask","number":1,"ask":"x","port":"keepFormer"}'));
    return never();
  },
  CloseChannel: async () => {
    const { closeSync } = await import('node:fs');
    closeSync(CHANNEL_DESCRIPTOR);
    return await never();
  },
};

/** Tools that show what a broken or hostile tool can do to the process in which it runs. */
export const FAULT_TOOLS: readonly AnyTool[] = Object.entries(FAULTS).map(([name, fault]) => ({
  name,
  kind: 'read',
  replay: name === 'Exit' ? 'opaque' : 'pure',
  description: name,
  inputSchema: { type: 'object' },
  parse: (input) => ({ ok: true, input }),
  describe: () => ({ reads: [], writes: [], commands: [], hosts: [] }),
  run: (input) => fault(input),
}));
