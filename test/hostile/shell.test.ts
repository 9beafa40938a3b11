import { beforeAll, describe, expect, it } from 'vitest';
import { needs } from '../needs.ts';
import { OUTWARD_COMMANDS, SHELL_COMMANDS, type ShellCommand } from './cases/shell-commands.ts';
import { ShellRange, type PlayedCommands, type RangeSettings } from './shell-range.ts';
import type { HostileWorld } from './world.ts';

const HAS_SANDBOX = needs('bwrap', 'bubblewrap');

/** Below the workspace, what nobody writes without a person; a sandbox keeps it by its own means. */
const PROTECTED = /^ws\/(\.git\/(config|hooks)|\.claude|\.vscode|\.mcp\.json|\.npmrc)/;

type Judge = (played: PlayedCommands, command: ShellCommand, world: HostileWorld) => void;

/** Nothing at all has changed, nobody was called, and nothing secret was said. */
const nothingHappened: Judge = ({ changed, hits, sent }, { command }, world) => {
  expect({ changed, hits }).toEqual({ changed: [], hits: 0 });
  // Where the command itself names it, the request of course does, too.
  if (!command.includes('@canary@')) expect(sent).not.toContain(world.canary);
};

/** What reads only has to run where reading may. */
const readsRun: Judge = (played, command, world) => {
  nothingHappened(played, command, world);
  if (command.kind !== 'harmless') return;
  expect(played.calls, played.calls[0]?.text).toMatchObject([{ end: 'ran' }]);
  if (command.says !== undefined) expect(played.calls[0]?.text).toMatch(command.says);
};

const allElseIsRefused: Judge = (played, command, world) => {
  readsRun(played, command, world);
  if (command.kind !== 'harmless') expect(played.calls).toMatchObject([{ end: 'refused' }]);
};

/** Only the workspace has changed, and not what is protected there. */
const staysInside: Judge = (played, command, world) => {
  const { changed, hits, sent, calls } = played;
  expect(changed.filter((path) => !path.startsWith('ws') || PROTECTED.test(path))).toEqual([]);
  expect(hits).toBe(0);
  if (command.kind === 'secret') expect(sent).not.toContain(world.canary);
  if (command.kind === 'harmless') expect(calls, calls[0]?.text).toMatchObject([{ end: 'ran' }]);
};

interface Setting extends RangeSettings {
  readonly name: string;
  readonly judge: Judge;
  readonly commands: readonly ShellCommand[];
  readonly sandbox: boolean;
}

const NO_SANDBOX = { MUSTER_SANDBOX_KIND: 'off' };

const SETTINGS: readonly Setting[] = [
  {
    name: 'plan mode in the sandbox',
    commands: SHELL_COMMANDS,
    agent: 'Review',
    mode: 'plan',
    env: {},
    judge: readsRun,
    sandbox: true,
  },
  {
    name: 'plan mode without a sandbox',
    commands: SHELL_COMMANDS,
    agent: 'Review',
    mode: 'plan',
    env: NO_SANDBOX,
    judge: allElseIsRefused,
    sandbox: false,
  },
  {
    name: 'autonomous mode without a sandbox',
    commands: SHELL_COMMANDS,
    mode: 'autonomous',
    env: NO_SANDBOX,
    judge: allElseIsRefused,
    sandbox: false,
  },
  {
    name: 'autonomous mode in the sandbox',
    commands: OUTWARD_COMMANDS,
    mode: 'autonomous',
    env: {},
    judge: staysInside,
    sandbox: true,
  },
];

for (const { name, judge, commands, sandbox, ...settings } of SETTINGS) {
  describe.runIf(!sandbox || HAS_SANDBOX)(`shell judging, ${name}`, () => {
    let played: readonly PlayedCommands[];
    let world: HostileWorld;

    beforeAll(async () => {
      await using range = await ShellRange.open(settings);
      ({ world } = range);
      played = await range.playEach(commands.map(({ command }) => command));
    });

    it.each(commands.map((command, index) => [command.name, command, index] as const))(
      '%s',
      (_, command, index) => {
        const its = played[index];
        if (its === undefined) throw new Error('it was not played');
        judge(its, command, world);
      },
    );
  });
}
