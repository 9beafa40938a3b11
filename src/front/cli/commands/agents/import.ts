import { importAgents, type ImportedAgent } from '../../../../api/agents/import.ts';
import { jsonText } from '../../../../base/json-text.ts';
import { exactLine } from '../../../../base/terminal-text.ts';
import type { AgentsCommand } from '../../command.ts';
import type { CommandContext } from '../context.ts';
import { agentsPlace, agentWords, dirOption } from './place.ts';
import { shownPath } from './words.ts';
import { nextStep } from './next-step.ts';

type AgentsImport = Extract<AgentsCommand, { kind: 'agents-import' }>;

/** `muster agents import`: says what was written, and what did not come along. */
export async function importAgentsCommand(
  command: AgentsImport,
  context: CommandContext,
): Promise<number> {
  const { to, name, force } = command;
  const imported = await importAgents({
    ...agentsPlace(command, context),
    ...dirOption(command.dir, context),
    names: agentWords(command.names, context),
    to,
    name,
    force,
  });
  context.out(command.json ? `${jsonText({ imported }, 2)}\n` : asText(imported, context));
  return 0;
}

function asText(imported: readonly ImportedAgent[], context: CommandContext): string {
  const { cwd, home } = context;
  const lines = imported.flatMap(({ name, from, vendor, path, leftOut, warnings }) => [
    `${exactLine(name)}: ${shownPath(path, cwd, home)} (from ${shownPath(from, cwd, home)}, ${vendor})`,
    ...(leftOut.length === 0
      ? []
      : [`  left out, for it does nothing in Muster: ${exactLine(leftOut.join(', '))}`]),
    ...warnings
      .filter(({ code }) => code !== 'inactive-field' && code !== 'unknown-field')
      .map(({ message }) => `  ! ${exactLine(message)}`),
  ]);
  return [...lines, ...nextStep(imported, context)].map((line) => `${line}\n`).join('');
}
