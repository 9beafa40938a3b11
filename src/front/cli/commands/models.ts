import { loadConfig } from '../../../config/load.ts';
import { jsonText } from '../../../base/json-text.ts';
import { terminalText } from '../../../base/terminal-text.ts';
import type { ConfigFlags, DataFlags } from '../command.ts';
import { columns } from './columns.ts';
import { configInputs, tellNotices, type ModelContext } from './context.ts';
import type { ModelsReport } from '../../../api/setup/models-report.ts';

/** `muster models`: exit code 1 when the main agent would have no model. */
export async function runModels(
  command: ConfigFlags & DataFlags & { readonly json: boolean },
  context: ModelContext,
): Promise<number> {
  const loaded = await loadConfig(configInputs(command, context));
  tellNotices(loaded, context);
  const report = await context.models(loaded);
  context.out(command.json ? `${jsonText(report, 2)}\n` : asText(report));
  return report.choices.some(({ wish, model }) => wish === 'main' && model === null) ? 1 : 0;
}

function asText({ providers, choices, problems }: ModelsReport): string {
  const found =
    providers.length === 0
      ? 'No provider is configured: set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or add [models.providers.NAME] to the configuration.\n'
      : columns(
          providers.map(({ name, baseUrl, missingKey, keyProblem, source }) => [
            name,
            baseUrl,
            keyProblem ?? (missingKey === null ? 'ready' : `needs a key in ${missingKey}`),
            `from ${source}`,
          ]),
        );
  const chosen = columns(
    choices.map(({ wish, model, chain, problem }) => [
      wish,
      model ?? 'none',
      problem ?? chain.join(' → '),
    ]),
  );
  const told = problems.length === 0 ? '' : `\n${problems.join('\n')}\n`;
  return terminalText(`${found}\n${chosen}${told}`, 'exact');
}
