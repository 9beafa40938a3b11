import type { ListedModelsReport } from '../../../../api/index.ts';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { formatAge, plural } from '../../../../base/text.ts';
import { isForChat } from '../../../../protocol/listed-model.ts';
import { modelTable } from './model-table.ts';

type ListedProvider = ListedModelsReport['providers'][number];

interface TextOptions {
  /** The text that was searched for; null: all models are listed. */
  readonly search: string | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Returns a text for each provider whose models are listed: a line about the list, and a table. */
export function modelListTexts(
  { providers }: ListedModelsReport,
  options: TextOptions,
): readonly string[] {
  return providers.filter(({ models }) => models !== null).map((one) => listText(one, options));
}

function listText(provider: ListedProvider, options: TextOptions): string {
  const { models, isListComplete } = provider;
  const shown = (models ?? []).filter(isForChat);
  const others = (models ?? []).length - shown.length;
  const notes = [
    isListComplete ? '' : 'It has more models than these.',
    others === 0
      ? ''
      : `Not shown: ${plural(others, 'model')} for embeddings, images or speech (--json lists them).`,
    smallWindowNote(provider),
  ].filter((note) => note !== '');
  const titles = titleLines(provider, { ...options, shown: shown.length });
  return [
    ...titles.map((line) => `${line}\n`),
    modelTable(shown),
    ...notes.map((line) => `${line}\n`),
  ].join('');
}

function titleLines(
  { name, modelCount, listedAt, listProblem }: ListedProvider,
  { search, now, shown }: TextOptions & { readonly shown: number },
): readonly string[] {
  const problem = listProblem === null ? null : sanitizeLine(listProblem);
  if (listedAt === null) {
    const failed = `${name}: its models could not be listed: ${problem ?? 'it was not asked'}`;
    return shown === 0 ? [failed] : [failed, 'These are known without its list:'];
  }
  const all = plural(modelCount ?? 0, 'model');
  const count =
    search === null ? all : `${shown} of ${all} with "${sanitizeLine(search)}" in the id`;
  const title = `${name}: ${count}, listed ${formatAge(now - Date.parse(listedAt))}`;
  return problem === null ? [title] : [title, `Asking again failed: ${problem}`];
}

/** An agent needs more for its prompt, its tools and a few files. */
const SMALL_WINDOW = 16_000;

/** Warns of a local server that runs a model with a window that is too small for an agent, as is often the default. */
function smallWindowNote({ models }: ListedProvider): string {
  const small = (models ?? []).find(
    ({ loaded, contextWindow }) =>
      loaded === true && contextWindow !== null && contextWindow < SMALL_WINDOW,
  );
  return small === undefined
    ? ''
    : `${small.id} runs with a context of ${small.contextWindow} tokens, which is too small for an agent: set a larger one in the server.`;
}
