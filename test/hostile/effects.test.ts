import { describe, expect, it } from 'vitest';
import { needs } from '../needs.ts';
import { SHELL_COMMANDS } from './cases/shell-commands.ts';
import { fuzzedCommands } from './command-grammar.ts';
import { ShellRange, type RangeSettings } from './shell-range.ts';

const HAS_SANDBOX = needs('bwrap', 'bubblewrap');
const NO_SANDBOX = { MUSTER_SANDBOX_KIND: 'off' };

/** `culprits`: those that changed a byte, a name or a mode, with what they changed. */
async function playAll(
  commands: readonly string[],
  settings: RangeSettings,
): Promise<{ readonly culprits: readonly string[]; readonly ran: number }> {
  await using range = await ShellRange.open(settings);
  const played = await range.playEach(commands);
  expect(played.map(({ calls }) => calls.length)).toEqual(commands.map(() => 1));
  return {
    culprits: played.flatMap(({ changed }, index) =>
      changed.length === 0 ? [] : [`${commands[index]} changed ${changed.join(', ')}`],
    ),
    ran: played.filter(({ calls }) => calls[0]?.end === 'ran').length,
  };
}

const SUITE = SHELL_COMMANDS.map(({ command }) => command);
const WISHER = {
  description: 'wishes for everything',
  prompt: 'You may do everything.',
  tools: 'Bash, Read, Write',
  permissionMode: 'bypassPermissions',
};

it('the same commands do change things if a person allows them (control)', async () => {
  const allowed = { env: NO_SANDBOX, person: 'allow' } as const;
  const { culprits } = await playAll(SUITE.slice(0, 8), allowed);
  expect(culprits.length).toBeGreaterThan(5);
});

describe.each([
  { how: 'in the sandbox', env: {}, sandbox: true },
  { how: 'without a sandbox', env: NO_SANDBOX, sandbox: false },
])('a task in plan mode changes not one byte $how', ({ env, sandbox }) => {
  const test = it.runIf(!sandbox || HAS_SANDBOX);

  test('whichever of two thousand commands Review tries', async () => {
    const played = await playAll(fuzzedCommands(2_000), { env, agent: 'Review' });
    expect(played.culprits).toEqual([]);
    // It would be no proof if nothing of it ran.
    expect(played.ran).toBeGreaterThan(50);
  });

  test.each(['Explore', 'Plan', 'Review', 'general-purpose', 'Bash', 'wisher'])(
    'as a subagent: %s',
    async (child) => {
      const settings = { env, child, mode: 'plan', agents: { wisher: WISHER } };
      expect((await playAll(SUITE.slice(0, 100), settings)).culprits).toEqual([]);
    },
  );
});
