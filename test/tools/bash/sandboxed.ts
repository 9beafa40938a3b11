import { HAS_BUBBLEWRAP, Place } from '../../sys/sandbox/support.ts';
import { makeWorkspace } from '../workspace.ts';
import { createCommandSandbox } from '../../../src/engine/calls/tool-context.ts';

/** Runs a command with the Bash tool and resolves with its result. */
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
  const sandbox = createCommandSandbox({
    sandbox: place.sandbox(),
    variableNames: [],
    taskId: 'task00000001',
    rights: { mode: 'default', rules, roots: [place.root], network: false },
    home: place.home,
  });
  const context = { sandbox, cwd: place.root, roots: [place.root] };
  return async (command, timeout = 60_000) =>
    (await at.call('Bash', { command, timeout }, context)).text.replaceAll(place.root, 'ROOT');
}

/** Both ways in which commands run: without a sandbox, and with bubblewrap where it is installed. */
export const PLACES: readonly (readonly [string, () => RunBash])[] = [
  ['outside of a sandbox', outside],
  ...(HAS_BUBBLEWRAP ? ([['in the sandbox', inSandbox]] as const) : []),
];
