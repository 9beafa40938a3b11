import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { errorMessage } from '../../../src/base/errors.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';

interface Target {
  readonly path?: string;
  readonly port?: number;
  readonly pid?: number;
}

/** What code can try that has taken over the process of a task, by the name of the tool that tries it. */
const ATTACKS: Readonly<Record<string, (target: Target) => string | Promise<string>>> = {
  ReadFile: ({ path = '' }) => readFileSync(path, 'utf8'),
  WriteFile: ({ path = '' }) => {
    writeFileSync(path, 'evil\n');
    return 'written';
  },
  Connect: ({ port = 0 }) =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => {
        socket.destroy();
        resolve('connected');
      });
      socket.once('error', reject);
    }),
  SeeProcess: ({ pid = 0 }) =>
    readdirSync('/proc').includes(String(pid)) ? 'seen' : 'no such process',
  SignalProcess: ({ pid = 0 }) => {
    process.kill(pid, 0);
    return 'signalled';
  },
};

/** Tools with which a test tries what the sandbox has to prevent. Their output is what succeeded, or the error. */
export const HOSTILE_TOOLS: readonly AnyTool[] = Object.entries(ATTACKS).map(([name, attack]) => ({
  name,
  kind: 'read',
  replay: 'pure',
  description: name,
  inputSchema: { type: 'object' },
  parse: (input) => ({ ok: true, input }),
  describe: () => ({ reads: [], writes: [], commands: [], hosts: [] }),
  run: async (input) => {
    try {
      return { text: await attack(input) };
    } catch (thrown) {
      return { text: errorMessage(thrown) };
    }
  },
}));
