import type { AgentsCommand } from '../../command.ts';
import type { NewAgentContext } from './new.ts';

/** `muster agents …`. Throws UsageError. */
export async function agentsCommand(
  command: AgentsCommand,
  context: NewAgentContext,
): Promise<number> {
  switch (command.kind) {
    case 'agents-list':
      return (await import('./list.ts')).listAgentsCommand(command, context);
    case 'agents-show':
      return (await import('./show.ts')).showAgentCommand(command, context);
    case 'agents-check':
      return (await import('./check.ts')).checkAgentsCommand(command, context);
    case 'agents-new':
      return (await import('./new.ts')).newAgentCommand(command, context);
    case 'agents-import':
      return (await import('./import.ts')).importAgentsCommand(command, context);
    case 'agents-explain':
      return (await import('./explain.ts')).explainAgentCommand(command, context);
    default:
      return command satisfies never;
  }
}
