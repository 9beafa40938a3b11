import { systemClock } from '../../base/clock.ts';
import type { FindListedModel } from '../../model/selection/model-chooser.ts';

/**
 * Creates a function that finds models in what local servers have stated at the start, and in the stored lists. Its code
 * is loaded and the file is read when a fact is needed that nothing else states.
 *
 * @param directory the state directory
 */
export function createLazyFinder(
  directory: string,
  onNotice: (line: string) => void,
): FindListedModel {
  let loading: Promise<FindListedModel> | null = null;
  return async (provider, id) => {
    loading ??= loadFinder(directory, onNotice);
    return (await loading)(provider, id);
  };
}

async function loadFinder(
  directory: string,
  onNotice: (line: string) => void,
): Promise<FindListedModel> {
  const [{ createListedFinder }, { openModelLists }] = await Promise.all([
    import('../../model/listing/find-listed.ts'),
    import('./model-lists.ts'),
  ]);
  return createListedFinder(openModelLists(directory), { clock: systemClock, onNotice });
}
