import { reportModels, type ModelsReport } from '../../../api/index.ts';
import { defineReportCommand } from '../command.ts';
import { columns } from '../layout.ts';
import { configOptions, PROJECT_FLAGS } from '../run-options.ts';

/** `muster models`: the exit code is 1 if no model can be chosen for the main agent. */
export const modelsCommand = defineReportCommand({
  words: 'models',
  summary: 'the configured providers and the model of each tier',
  operands: [],
  flags: ['json', 'model', 'fallback-model', ...PROJECT_FLAGS, 'data-dir'],
  examples: ['muster models'],
  parse: ({ flags }) => ({ json: flags.has('json'), ...configOptions(flags) }),
  run: async (options, context) => {
    const { loadConfiguration, stateLocation } = await import('../configuration.ts');
    const { stateDirectory } = await import('../../../trust/state-directory.ts');
    const loaded = await loadConfiguration(options, context);
    const report = await reportModels(loaded, {
      environment: context.environment,
      directory: stateDirectory(stateLocation(options, context)),
    });
    const isMissing = report.choices.some(({ wish, model }) => wish === 'main' && model === null);
    return { json: report, text: asText(report), code: isMissing ? 1 : 0 };
  },
});

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
  const reported = problems.length === 0 ? '' : `\n${problems.join('\n')}\n`;
  return `${found}\n${chosen}${reported}`;
}
