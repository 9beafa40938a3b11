import { UsageError } from '../../base/errors.ts';
import type { AgentsCommand } from './command.ts';
import { commandSpec } from './command-table.ts';
import type { FlagReader } from './flag-reader.ts';
import { projectFlags } from './run-settings.ts';

/** The arguments of `muster agents …`, as many operands as the command takes. Throws UsageError. */
export function parseAgents(
  kind: AgentsCommand['kind'],
  operands: readonly string[],
  flags: FlagReader,
): AgentsCommand {
  const common = {
    json: flags.given('json'),
    ...projectFlags(flags),
    dataDir: flags.text('data-dir'),
  };
  const [name = ''] = operands;
  const dir = flags.text('dir');
  switch (kind) {
    case 'agents-list':
      return { kind, ...common, verbose: flags.given('verbose'), dir };
    case 'agents-show':
      return { kind, ...common, name };
    case 'agents-check':
      return { kind, ...common, names: operands, strict: flags.given('strict'), dir };
    case 'agents-explain': {
      const values = flags.configValues(commandSpec(kind).flags);
      return { kind, ...common, name, flags: values, addDirs: flags.texts('add-dir') };
    }
    case 'agents-new':
      return { kind, ...common, name: operands[0] ?? null, ...newAgent(flags) };
    case 'agents-import':
      return { kind, ...common, names: operands, dir, name: flags.text('name'), ...target(flags) };
    default:
      return kind satisfies never;
  }
}

function newAgent(flags: FlagReader) {
  const [prompt, promptFile] = [flags.text('prompt'), flags.text('prompt-file')];
  if (prompt !== null && promptFile !== null) {
    throw new UsageError('--prompt and --prompt-file are two prompts; give one of them');
  }
  return {
    description: flags.text('description'),
    tools: flags.text('tools'),
    model: flags.text('model'),
    mode: flags.text('mode'),
    prompt,
    promptFile,
    from: flags.text('from'),
    ...target(flags),
  };
}

function target(flags: FlagReader) {
  return { to: flags.text('to') ?? 'project', force: flags.given('force') };
}
