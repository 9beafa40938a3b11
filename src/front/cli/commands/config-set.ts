import { loadUserSettings } from '../../../api/index.ts';
import { UsageError } from '../../../base/errors.ts';
import type { ChangedSetting } from '../../../config/change-setting.ts';
import { defineReportCommand, refuseAgents, type CommandContext, type Report } from '../command.ts';

const SETTING = { name: 'KEY', completes: { found: 'settings' } } as const;

/** `muster config set`. Throws UsageError for an unknown key and a wrong value, and MusterError if nothing can be written. */
export const configSetCommand = defineReportCommand({
  words: 'config set',
  summary: 'change a setting in your own configuration file',
  operands: [SETTING, { name: 'VALUE' }],
  flags: ['json'],
  examples: [
    'muster config set terminal.detail short',
    'muster config set models.default anthropic/claude-sonnet-5',
    `muster config set permissions.allow '["Bash(npm test:*)", "Edit(src/**)"]'`,
  ],
  parse: ({ operands: [key = '', value = ''], flags }) => {
    if (value === '') throw new UsageError(`${key} needs a value; muster config unset removes it`);
    return { key, value, json: flags.has('json') };
  },
  run: ({ key, value }, context) => change(key, value, context),
});

/** `muster config unset`. Throws as `config set` does. */
export const configUnsetCommand = defineReportCommand({
  words: 'config unset',
  summary: 'remove a setting from your own configuration file',
  operands: [SETTING],
  flags: ['json'],
  examples: ['muster config unset terminal.detail'],
  parse: ({ operands: [key = ''], flags }) => ({ key, json: flags.has('json') }),
  run: ({ key }, context) => change(key, null, context),
});

async function change(key: string, text: string | null, context: CommandContext): Promise<Report> {
  refuseAgents(context.environment, 'change the configuration');
  const { changeUserSetting } = await loadUserSettings();
  const changed = await changeUserSetting(context, key, text);
  const override = await findOverrideHere(changed, context);
  if (override !== null) {
    context.err(`muster: ${override} comes first here, so that this has no effect\n`);
  }
  return { json: { ...changed, override }, text: `${describeChange(changed)}\n` };
}

/** Describes a changed setting in one line. */
export function describeChange({ key, value, where, isChanged }: ChangedSetting): string {
  if (value !== null) return `${key} = ${JSON.stringify(value)}  (${where})`;
  return isChanged ? `${key} is no longer set in ${where}` : `${key} is not set in ${where}`;
}

async function findOverrideHere(
  changed: ChangedSetting,
  context: CommandContext,
): Promise<string | null> {
  const { configInputs } = await import('../configuration.ts');
  const { readConfig } = await import('../../../config/load.ts');
  const { findOverride } = await import('../../../config/change-setting.ts');
  const here = { cwd: null, dataDir: null, trustProject: false, flags: [] };
  return findOverride(await readConfig(configInputs(here, context)), changed);
}
