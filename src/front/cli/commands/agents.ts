import { resolve } from 'node:path';
import { listAgentsBelow, listAgentsIn } from '../../../api/index.ts';
import { printJson, printText } from '../../../sys/print.ts';
import type { Command } from '../command.ts';
import { stderrNotice } from '../stderr.ts';

type AgentsList = Extract<Command, { kind: 'agents-list' }>;

/** `muster agents list`: what can be chosen, where it came from, and what it gets. */
export async function listAgentsCommand(command: AgentsList): Promise<number> {
  const listings =
    command.dir === null
      ? await listAgentsIn({
          cwd: resolve(command.cwd ?? '.'),
          trustProject: command.trustProject,
          onNotice: stderrNotice,
        })
      : await listAgentsBelow(resolve(command.dir));
  if (command.json) {
    printJson(listings, 2);
    return 0;
  }
  for (const agent of listings.agents) {
    const mode =
      agent.permissionMode === null || agent.permissionMode === agent.effectiveMode
        ? agent.effectiveMode
        : `${agent.effectiveMode} (asks for ${agent.permissionMode})`;
    const state = agent.shadowedBy === null ? '' : `  [shadowed by ${agent.shadowedBy}]`;
    const lines = [
      `${agent.name}${agent.id === agent.name ? '' : ` (${agent.id})`}${state}`,
      `  ${agent.description.split('\n')[0] ?? ''}`,
      `  ${agent.path} · ${mode} · ${agent.model ?? 'inherit'}`,
      ...agent.shadows.map((path) => `  in the place of ${path}`),
      ...agent.warnings.map((warning) => `  ! ${warning.message}`),
    ];
    printText(`${lines.join('\n')}\n`);
  }
  for (const { path, reason } of listings.skipped) {
    printText(`skipped ${path}: ${reason}\n`);
  }
  return 0;
}
