import { errorMessage } from '../../../base/errors.ts';
import type { AppState } from '../model/app-state.ts';
import { rootRow } from '../model/task-tree.ts';
import type { LibraryInfo } from '../model/ui-library.ts';

const NO_MODEL =
  'no model is configured: the offline search engine answers, and writes no code. For a real model type /login, set a key such as ANTHROPIC_API_KEY, or start Ollama or LM Studio with a model';

/** Returns the name of the model for a new conversation. `missing` says what to do if there is no model. */
export function mainModel(library: LibraryInfo) {
  try {
    const { provider, id } = library.mainModel();
    return library.offlineByDefault
      ? { name: 'offline', missing: [NO_MODEL] }
      : { name: `${provider}/${id}`, missing: [] };
  } catch (thrown) {
    return { name: 'none', missing: [errorMessage(thrown)] };
  }
}

/** The model of the main agent: the one at work, or the one that gets the next message. */
export interface CurrentModel {
  /** `provider/id`. */
  readonly name: string;
  /** The reasoning effort; null for that of the model. */
  readonly effort: string | null;
}

/** Returns the model of the conversation, or the one that the user has chosen for its next message. */
export function currentModel(
  { tree, conversation, hasChosenModel }: AppState,
  library: LibraryInfo,
): CurrentModel {
  const root = rootRow(tree);
  return root === undefined || (hasChosenModel && !conversation.isAtWork)
    ? { name: mainModel(library).name, effort: library.mainEffort() }
    : { name: root.model, effort: root.effort ?? null };
}
