import { loadDefinitions, type ImportedAgent } from '../../../../api/index.ts';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { defineReportCommand, type CommandContext } from '../../command.ts';
import { PROJECT_FLAGS } from '../../run-options.ts';
import { FILES } from '../../completion-values.ts';
import { formatShortPath } from './format.ts';
import {
  AGENT_DIRECTORIES,
  agentsLocation,
  agentsOptions,
  directoryOption,
  nextSteps,
  REPLACE_FILES,
  targetOptions,
  TRUST_DATA_DIR,
} from './location.ts';

/** `muster agents import`: reports the files that were written, and the fields that were left out. */
export const agentsImportCommand = defineReportCommand({
  words: 'agents import',
  summary: "write agents of another product's files in Muster's own format",
  operands: [{ name: '[FILE|NAME…]', completes: FILES }],
  flags: ['to', 'name', 'force', 'json', 'dir', ...PROJECT_FLAGS, 'data-dir'],
  flagDetails: { to: AGENT_DIRECTORIES, force: REPLACE_FILES, 'data-dir': TRUST_DATA_DIR },
  examples: [
    'muster agents import .github/agents/planner.agent.md',
    'muster agents import --dir ~/.claude/agents --to user',
  ],
  parse: ({ operands, flags }) => ({
    ...agentsOptions(flags),
    names: operands,
    dir: flags.text('dir'),
    name: flags.text('name'),
    ...targetOptions(flags),
  }),
  run: async (options, context) => {
    const { to, name, force } = options;
    const { importAgents, resolveAgentFiles } = await loadDefinitions();
    const imported = await importAgents({
      ...agentsLocation(options, context),
      ...directoryOption(options.dir, context),
      names: resolveAgentFiles(options.names, context.cwd),
      to,
      name,
      force,
    });
    return { json: { imported }, text: asText(imported, context) };
  },
});

function asText(imported: readonly ImportedAgent[], context: CommandContext): string {
  const { cwd, home } = context;
  const lines = imported.flatMap(({ name, from, vendor, path, leftOut, warnings }) => [
    `${sanitizeLine(name)}: ${formatShortPath(path, cwd, home)} (from ${formatShortPath(from, cwd, home)}, ${vendor})`,
    ...(leftOut.length === 0
      ? []
      : [`  left out, because it does nothing in Muster: ${sanitizeLine(leftOut.join(', '))}`]),
    ...warnings
      .filter(({ code }) => code !== 'inactive-field' && code !== 'unknown-field')
      .map(({ message }) => `  ! ${sanitizeLine(message)}`),
  ]);
  return [...lines, ...nextSteps(imported, context)].map((line) => `${line}\n`).join('');
}
