import { describe, expect, test } from 'vitest';
import { commandSandbox } from '../../src/engine/command-sandbox.ts';
import type { SandboxPort, ToolContext } from '../../src/protocol/tool.ts';
import { needs } from '../needs.ts';
import { HAS_BUBBLEWRAP, Place } from '../sys/sandbox/support.ts';
import { makeWorkspace } from './workspace.ts';

/** Where a command runs, and in what. */
type Setting = () => {
  readonly call: (command: string) => Promise<string>;
};

function outside(): ReturnType<Setting> {
  const at = makeWorkspace();
  return { call: async (command) => (await at.call('Bash', { command })).text };
}

function inSandbox(): ReturnType<Setting> {
  const at = makeWorkspace();
  const place = new Place();
  const sandbox = sandboxOf(place);
  const context: Partial<ToolContext> = { sandbox, cwd: place.root, roots: [place.root] };
  return { call: async (command) => (await at.call('Bash', { command }, context)).text };
}

function sandboxOf(place: Place): SandboxPort {
  const rules = { allow: [], ask: [], deny: [] };
  return commandSandbox({
    sandbox: place.sandbox(),
    variables: [],
    taskId: 'task00000001',
    rights: { mode: 'default', rules, roots: [place.root], network: false },
    home: place.home,
  });
}

const settings: readonly (readonly [string, Setting])[] = [
  ['outside of a sandbox', outside],
  ...(HAS_BUBBLEWRAP ? ([['in the sandbox', inSandbox]] as const) : []),
];

const COMMANDS: readonly (readonly [string, string])[] = [
  ['echo x > /dev/stderr', 'x'],
  ['sh -c "echo x > /dev/stdout"', 'x'],
  ['bash -c "echo x >> /dev/fd/1"', 'x'],
  ['exec 7>&1; echo x > /dev/fd/7', 'x'],
  ['echo one; echo two > /dev/stderr; echo three', 'one\ntwo\nthree'],
  ['echo x | tee /dev/stderr | wc -c', 'x\n2'],
  [
    'printf x > /dev/null; cp /dev/null /dev/stdout; dd if=/dev/zero bs=1 count=0 of=/dev/stderr status=none; echo ok',
    'ok',
  ],
  ['echo x | awk \'{ print > "/dev/stderr" }\'', 'x'],
  ['echo x | sed -n "w /dev/stdout"', 'x'],
  ['cat <(echo x) > /dev/stdout', 'x'],
  ['ls /proc/self/fd/1 /dev/stdout > /dev/null && echo x', 'x'],
];

describe.runIf(process.platform === 'linux').each(settings)('%s', (_, setting) => {
  test.each(COMMANDS)('%s', async (command, output) => {
    expect(await setting().call(command)).toBe(`${output}\n[exit code 0]`);
  });

  test.runIf(needs('node', 'nodejs'))('a program that opens it itself', async () => {
    const command = `node -e "require('fs').writeFileSync('/dev/stdout', 'x')"`;
    expect(await setting().call(command)).toBe('x\n[exit code 0]');
  });

  test('a great output is kept, and a flood is stopped', async () => {
    const { call } = setting();
    expect(await call('seq 1 100000 > /dev/stderr; echo end')).toContain(
      '\n100000\nend\n[exit code 0]',
    );
    expect(await call('yes > /dev/stdout')).toContain('[stopped: it wrote more than the limit');
  });
});
