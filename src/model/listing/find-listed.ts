import type { Clock } from '../../base/clock.ts';
import { errorMessage } from '../../base/errors.ts';
import type { ListedModel } from '../../protocol/listed-model.ts';
import type { ConfiguredProvider } from '../providers/configured-provider.ts';
import type { FindListedModel } from '../selection/model-chooser.ts';
import { findStoredList, isNew, type ListStore, type StoredList } from './stored-list.ts';

/**
 * Creates a function that finds models in the lists of their providers: in what a local server has just stated, or else
 * in the stored lists, which are read at the first call. A stored list of a local server counts for a day, since its
 * context windows change with its settings. It never rejects.
 */
export function createListedFinder(
  store: Pick<ListStore, 'all'>,
  { clock, onNotice }: { readonly clock: Clock; readonly onNotice: (line: string) => void },
): FindListedModel {
  let lists: readonly StoredList[] | null = null;
  const findStored = (provider: ConfiguredProvider): StoredList | undefined => {
    lists ??= readLists(store, onNotice);
    const list = findStoredList(lists, provider);
    return list === undefined || !provider.isPrivate || isNew(list, clock.now()) ? list : undefined;
  };
  return async (provider, id) => {
    const { name, listed } = provider;
    const source = `the list of ${name}`;
    const current = findById(listed ?? [], id);
    if (current !== undefined) return { model: current, source, askedOn: toDay(clock.now()) };
    const list = findStored(provider);
    const model = findById(list?.models ?? [], id);
    return list === undefined || model === undefined
      ? null
      : { model, source, askedOn: toDay(list.askedAt) };
  };
}

function readLists(
  store: Pick<ListStore, 'all'>,
  onNotice: (line: string) => void,
): readonly StoredList[] {
  try {
    return store.all();
  } catch (thrown) {
    onNotice(`no stored list of models is used: ${errorMessage(thrown)}`);
    return [];
  }
}

/** Finds a model by its id, to which Ollama adds the default tag. */
function findById(models: readonly ListedModel[], id: string): ListedModel | undefined {
  return (
    models.find((model) => model.id === id) ?? models.find((model) => model.id === `${id}:latest`)
  );
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
