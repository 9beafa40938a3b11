import { terminalText } from '../../../../base/terminal-text.ts';
import { fail, ok, warn, type Check } from './check.ts';
import type { ModelsReport } from '../../../../api/setup/models-report.ts';

const CONFIGURE = 'set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or see "muster models"';

/** The providers with the variables of their keys, never a key, and what the main agent would run on. */
export function modelChecks({ providers, choices, problems }: ModelsReport): readonly Check[] {
  const main = choices.find(({ wish }) => wish === 'main');
  return [
    ...providers.map(providerCheck),
    ...problems.map((problem) => warn('provider', terminalText(problem, 'exact'), null)),
    mainCheck(main),
    ...choices.flatMap(({ wish, model, problem }) =>
      wish === 'fallback' && model === null
        ? [fail('model', terminalText(problem ?? 'a fallback is unusable', 'exact'), CONFIGURE)]
        : [],
    ),
  ];
}

function providerCheck(provider: ModelsReport['providers'][number]): Check {
  const { name, baseUrl, source, missingKey, keyProblem } = provider;
  if (keyProblem !== null)
    return warn('provider', terminalText(`${name}: ${keyProblem}`, 'exact'), null);
  if (missingKey === null) {
    return ok('provider', terminalText(`${name} at ${baseUrl}, from ${source}`, 'exact'));
  }
  const remedy = terminalText(`set ${missingKey}`, 'exact');
  return warn('provider', terminalText(`${name} has no key`, 'exact'), remedy);
}

function mainCheck(main: ModelsReport['choices'][number] | undefined): Check {
  if (main === undefined || main.model === null) {
    return fail('model', terminalText(main?.problem ?? 'none can be chosen', 'exact'), CONFIGURE);
  }
  if (main.offline) {
    return warn('model', `${main.model}: it searches the workspace and writes no code`, CONFIGURE);
  }
  if (main.problem !== null)
    return warn('model', terminalText(`${main.model}: ${main.problem}`, 'exact'), null);
  return ok('model', terminalText(main.model, 'exact'));
}
