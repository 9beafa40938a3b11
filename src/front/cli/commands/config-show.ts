import { loadConfig } from '../../../config/load.ts';
import { configEntries, type ConfigEntry } from '../../../config/show.ts';
import { jsonText } from '../../../base/json-text.ts';
import { terminalText } from '../../../base/terminal-text.ts';
import type { ConfigFlags, DataFlags } from '../command.ts';
import { configInputs, tellNotices, type CommandContext } from './context.ts';
import { columns } from './columns.ts';

/** `muster config show`. Throws UsageError when something in the configuration is wrong. */
export async function runConfigShow(
  command: ConfigFlags & DataFlags & { readonly json: boolean },
  context: CommandContext,
): Promise<number> {
  const loaded = await loadConfig(configInputs(command, context));
  tellNotices(loaded, context);
  const entries = configEntries(loaded);
  context.out(
    command.json ? `${jsonText({ files: loaded.files, settings: entries }, 2)}\n` : asText(entries),
  );
  return 0;
}

function asText(entries: readonly ConfigEntry[]): string {
  return columns(
    entries.map((entry) => [
      entry.key,
      terminalText(
        entry.value === null ? `(${entry.default})` : JSON.stringify(entry.value),
        'exact',
      ),
      terminalText(entry.source, 'exact'),
      entry.acts ? '' : 'accepted, does not act yet',
    ]),
  );
}
