import { commandSandbox } from '../../src/engine/calls/command-sandbox.ts';
import { HAS_BUBBLEWRAP, Place } from '../sys/sandbox/support.ts';
import { makeWorkspace } from './workspace.ts';

/** Runs a command by the Bash tool, and resolves with its result. */
export type RunBash = (command: string, timeout?: number) => Promise<string>;

function outside(): RunBash {
  const at = makeWorkspace();
  return async (command, timeout = 60_000) =>
    (await at.call('Bash', { command, timeout })).text.replaceAll(at.root, 'ROOT');
}

function inSandbox(): RunBash {
  const at = makeWorkspace();
  const place = new Place();
  const rules = { allow: [], ask: [], deny: [] };
  const sandbox = commandSandbox({
    sandbox: place.sandbox(),
    variables: [],
    taskId: 'task00000001',
    rights: { mode: 'default', rules, roots: [place.root], network: false },
    home: place.home,
  });
  const context = { sandbox, cwd: place.root, roots: [place.root] };
  return async (command, timeout = 60_000) =>
    (await at.call('Bash', { command, timeout }, context)).text.replaceAll(place.root, 'ROOT');
}

/** Both places where commands run: as they are, and held by bubblewrap where there is one. */
export const PLACES: readonly (readonly [string, () => RunBash])[] = [
  ['outside of a sandbox', outside],
  ...(HAS_BUBBLEWRAP ? ([['in the sandbox', inSandbox]] as const) : []),
];
