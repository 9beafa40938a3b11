import { describe, expect, test } from 'vitest';
import { createCommandSandbox } from '../../../src/engine/calls/tool-context.ts';
import type { ShellPort } from '../../../src/protocol/tool.ts';
import { createUnavailableSandbox, type Sandbox } from '../../../src/sys/sandbox/sandbox.ts';
import { HAS_BUBBLEWRAP, Place } from '../../sys/sandbox/support.ts';
import { makeWorkspace } from '../workspace.ts';

/** More processes than LIMIT, none of which lasts. */
const MANY = 'echo go; for i in $(seq 60); do sleep 5 & done; wait; echo never';
const LIMIT = 30;
const NOTE =
  '[killed: it had more than 30 processes and threads at a time, the limit sandbox.command_processes]';

type OpenSandbox = (place: Place) => Sandbox;

const openNone: OpenSandbox = () => createUnavailableSandbox('a test', 'none is needed', LIMIT);
const openBubblewrap: OpenSandbox = (place) => place.sandbox({ maxProcesses: LIMIT });
const SANDBOXES: readonly (readonly [string, OpenSandbox])[] = [
  ['outside of a sandbox', openNone],
  ...(HAS_BUBBLEWRAP ? ([['in the sandbox', openBubblewrap]] as const) : []),
];

describe.runIf(process.platform === 'linux').each(SANDBOXES)('%s', (_, openSandbox) => {
  function prepare() {
    const place = new Place();
    const rules = { allow: [], ask: [], deny: [] };
    const sandbox = createCommandSandbox({
      sandbox: openSandbox(place),
      variableNames: [],
      taskId: 'task00000001',
      rights: { mode: 'default', rules, roots: [place.root], network: false },
      home: place.home,
    });
    return { at: makeWorkspace(), context: { sandbox, cwd: place.root, roots: [place.root] } };
  }

  test('a command with too many processes is killed, and its result names the limit', async () => {
    const { at, context } = prepare();
    expect(await at.call('Bash', { command: MANY }, context)).toEqual({
      text: `go\n${NOTE}`,
      error: 'LIMIT_EXCEEDED',
      facts: { commands: [{ command: MANY, exitCode: null }] },
    });
  });

  test('so is a command in the background', async () => {
    const { at, context } = prepare();
    const written: string[] = [];
    const exits: unknown[] = [];
    const shells: ShellPort = {
      start: async ({ begin }) => {
        const write = (chunk: Buffer): void => void written.push(chunk.toString());
        const { ended } = await begin(write, new AbortController().signal);
        exits.push(await ended);
        return { id: 'shell0000001', output: '/out/put' };
      },
    };
    await at.call('Bash', { command: MANY, run_in_background: true }, { ...context, shells });
    expect(exits).toEqual([{ how: 'process_limit', exitCode: null }]);
    expect(written.join('')).toBe(`go\n${NOTE}\n`);
  });

  test('a command with fewer processes runs to its end', async () => {
    const { at, context } = prepare();
    const command = 'for i in $(seq 20); do sleep 1 & done; wait; echo done';
    const { text } = await at.call('Bash', { command }, context);
    expect(text).toBe('done\n[exit code 0]');
  });
});
