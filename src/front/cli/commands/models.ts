import { loadModelReports, type ModelsReport } from '../../../api/index.ts';
import { defineReportCommand } from '../command.ts';
import { columns } from '../layout.ts';
import { configOptions, PROJECT_FLAGS } from '../run-options.ts';

/** `muster models`: the exit code is 1 if no model can be chosen for the main agent. */
export const modelsCommand = defineReportCommand({
  words: 'models',
  summary:
    'the configured providers, the model of each tier, and the models that each provider has',
  operands: [{ name: '[PROVIDER]', completes: { found: 'providers' } }],
  flags: ['search', 'refresh', 'json', 'model', 'fallback-model', ...PROJECT_FLAGS, 'data-dir'],
  examples: ['muster models', 'muster models openrouter --search "claude sonnet"'],
  parse: ({ operands: [provider = null], flags }) => ({
    json: flags.has('json'),
    provider,
    search: flags.text('search'),
    isRefresh: flags.has('refresh'),
    ...configOptions(flags),
  }),
  run: async ({ provider, search, isRefresh, ...options }, context) => {
    const { loadConfiguration, stateLocation } = await import('../configuration.ts');
    const { modelListTexts } = await import('./models/list-texts.ts');
    const loaded = await loadConfiguration(options, context);
    const state = stateLocation(options, context);
    const wanted = { provider, search, isRefresh };
    const { reportListedModels } = await loadModelReports();
    const report = await reportListedModels(loaded, { state, ...wanted });
    const isMissing = report.choices.some(({ wish, model }) => wish === 'main' && model === null);
    const lists = modelListTexts(report, { search, now: Date.now() });
    return {
      json: report,
      text: [overviewText(report), ...lists].join('\n'),
      code: isMissing ? 1 : 0,
    };
  },
});

function overviewText({ providers, choices, problems }: ModelsReport): string {
  const found =
    providers.length === 0
      ? 'No provider is configured: run "muster login", set a key such as ANTHROPIC_API_KEY, or add [models.providers.NAME] to the configuration.\n'
      : columns(
          providers.map(({ name, baseUrl, missingKey, keyProblem, source, credentials }) => [
            name,
            baseUrl,
            keyProblem ?? (missingKey === null ? 'ready' : `needs a key in ${missingKey}`),
            `from ${source}${credentials === undefined ? '' : `, credentials: ${credentials}`}`,
          ]),
        );
  const chosen = columns(
    choices.map(({ wish, model, chain, problem }) => [
      wish,
      model ?? 'none',
      problem ?? chain.join(' → '),
    ]),
  );
  const reported = problems.length === 0 ? '' : `\n${problems.join('\n')}\n`;
  return `${found}\n${chosen}${reported}`;
}
