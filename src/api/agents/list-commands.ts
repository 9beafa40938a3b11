import { SLASH_COMMANDS } from '../../agents/commands/kind.ts';
import { listSlashCommands, type CommandListings } from '../../agents/commands/list-commands.ts';
import { SKILLS } from '../../agents/kinds.ts';
import { discoverDefinitions } from '../../agents/loader/discover.ts';
import { DEFAULT_AGENT } from '../../engine/task/task-arguments.ts';
import type { ListAgentsOptions } from './list-agents.ts';
import { openDefinitionLocation } from './load-agents.ts';

/** Lists the slash commands that can be used in a directory. Throws UsageError if it is not a directory. */
export async function listCommandsIn(options: ListAgentsOptions): Promise<CommandListings> {
  const location = await openDefinitionLocation(options);
  const [commands, skills] = await Promise.all([
    discoverDefinitions(SLASH_COMMANDS, location),
    discoverDefinitions(SKILLS, location),
  ]);
  const names = skills.items.filter(({ userInvocable }) => userInvocable !== false);
  return listSlashCommands(commands, {
    skills: names.map(({ name }) => name),
    defaultAgent: DEFAULT_AGENT,
  });
}
