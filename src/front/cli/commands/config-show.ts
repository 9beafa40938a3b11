import type { ConfigEntry } from '../../../config/show.ts';
import { sanitizeForTerminal } from '../../../base/terminal-text.ts';
import { defineReportCommand } from '../command.ts';
import { columns } from '../layout.ts';
import { CONFIG_FLAGS, configOptions, PROJECT_FLAGS } from '../run-options.ts';

/** `muster config show`. Throws UsageError if the configuration is wrong. */
export const configShowCommand = defineReportCommand({
  words: 'config show',
  summary: 'every setting, its value and where that came from',
  operands: [],
  flags: ['json', ...CONFIG_FLAGS, ...PROJECT_FLAGS, 'data-dir'],
  examples: ['muster config show', 'muster config show --json --trust-project'],
  parse: ({ flags }) => ({ json: flags.has('json'), ...configOptions(flags) }),
  run: async (options, context) => {
    const { loadConfiguration } = await import('../configuration.ts');
    const { listConfigEntries } = await import('../../../config/show.ts');
    const loaded = await loadConfiguration(options, context);
    const settings = listConfigEntries(loaded);
    return { json: { files: loaded.files, settings }, text: asText(settings) };
  },
});

function asText(entries: readonly ConfigEntry[]): string {
  return columns(
    entries.map((entry) => [
      entry.key,
      sanitizeForTerminal(
        entry.value === null ? `(${entry.default})` : JSON.stringify(entry.value),
        'exact',
      ),
      sanitizeForTerminal(entry.source, 'exact'),
      entry.acts ? '' : 'accepted, does not act yet',
    ]),
  );
}
