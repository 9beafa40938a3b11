import { setImmediate as nextTick } from 'node:timers/promises';
import { errorMessage } from '../../../base/errors.ts';
import type { AppState } from '../model/app-state.ts';
import { prepareItems, type PickerItem, type PickerKind } from '../model/picker.ts';
import type { UiLibrary } from '../model/ui-library.ts';
import {
  conversationItems,
  ConversationPreview,
  historyItems,
  messageItems,
  modelItems,
} from '../update/picker-items.ts';
import type { UiMessage } from '../update/message.ts';
import { currentModel } from '../view/main-model.ts';
import { memoryLines } from '../update/commands/memory.ts';
import { listMemory } from './memory-list.ts';
import { readPrompts } from './log-reader.ts';

interface PickerListsOptions {
  readonly library: UiLibrary;
  readonly state: () => AppState;
  readonly dispatch: (message: UiMessage) => void;
}

/** The time for which a selection must rest before its preview is read, in milliseconds. */
const PREVIEW_DELAY_MS = 60;

/** Reads the lists and previews of pickers. Each list is read after the picker has been drawn. */
export class PickerLists {
  private readonly options: PickerListsOptions;
  private preview = new AbortController();

  constructor(options: PickerListsOptions) {
    this.options = options;
  }

  async listConversations(current: string | null): Promise<void> {
    await this.read('conversations', () => {
      const { library, state } = this.options;
      const now = state().tree.clock.now();
      return conversationItems(library.store.list(), { cwd: library.cwd, current, now });
    });
  }

  async listMessages(conversation: string): Promise<void> {
    await this.read('messages', () => {
      const { library, state } = this.options;
      const prompts = readPrompts(library.store, conversation);
      return messageItems(prompts, state().tree.clock.now());
    });
  }

  async listHistory(): Promise<void> {
    const { typed } = this.options.library;
    const here = typed.entries();
    this.fill('history', historyItems(here, []), { isLoading: true });
    await this.read('history', () => historyItems(here, typed.elsewhere()));
  }

  /** Lists the context files in the picker, or as a page in plain lines. */
  async listMemory(): Promise<void> {
    const { library, state, dispatch } = this.options;
    const items = listMemory(library.cwd, await library.contextFiles());
    if (state().surface === 'screen') this.fill('memory', items, { isLoading: false });
    else dispatch({ type: 'page', title: 'What agents read', lines: memoryLines(items) });
  }

  /** Lists the models that are stored, and then those that the providers report. */
  async listModels(): Promise<void> {
    const { library, state } = this.options;
    const current = currentModel(state(), library).name;
    try {
      await untilDrawn();
      const stored = await library.listModels({ isAsking: false });
      this.fill('models', modelItems(stored, current), { isLoading: true });
      const lists = await library.listModels({ isAsking: true });
      const silent = lists.filter(({ problem }) => problem !== null);
      const note = silent.map(({ provider, problem }) => `${provider}: ${problem}`).join('; ');
      const items = modelItems(lists, current);
      await prepareInSteps(items);
      this.fill('models', items, { isLoading: false, note });
    } catch (thrown) {
      this.fill('models', [], { isLoading: false, note: errorMessage(thrown) });
    }
  }

  /** Reads the preview of a conversation, unless another one is selected in the meantime. */
  async readPreview(kind: PickerKind, id: string): Promise<void> {
    this.preview.abort();
    const { signal } = (this.preview = new AbortController());
    await new Promise((resolve) => setTimeout(resolve, PREVIEW_DELAY_MS));
    const { library, dispatch } = this.options;
    const preview = new ConversationPreview();
    try {
      if (signal.aborted) return;
      // Reading a long log yields, so that keys are handled meanwhile.
      for await (const event of library.store.streamEvents(id, 0)) {
        if (signal.aborted) return;
        preview.add(event);
      }
      dispatch({ type: 'preview-read', kind, id, parts: preview.parts() });
    } catch (thrown) {
      const text = `its log cannot be read: ${errorMessage(thrown)}`;
      dispatch({ type: 'preview-read', kind, id, parts: [{ label: '', text }] });
    }
  }

  private async read(kind: PickerKind, list: () => readonly PickerItem[]): Promise<void> {
    await untilDrawn();
    try {
      const items = list();
      await prepareInSteps(items);
      this.fill(kind, items, { isLoading: false });
    } catch (thrown) {
      this.fill(kind, [], { isLoading: false, note: errorMessage(thrown) });
    }
  }

  private fill(
    kind: PickerKind,
    items: readonly PickerItem[],
    { isLoading, note = '' }: { readonly isLoading: boolean; readonly note?: string },
  ): void {
    this.options.dispatch({ type: 'picker-filled', kind, items, isLoading, note });
  }
}

/** The number of items that are prepared at once, which takes about a millisecond. */
const ITEMS_PER_STEP = 500;

/** Prepares items for the filter. Keys are handled between the steps. */
async function prepareInSteps(items: readonly PickerItem[]): Promise<void> {
  for (let from = 0; from < items.length; from += ITEMS_PER_STEP) {
    prepareItems(items.slice(from, from + ITEMS_PER_STEP));
    await nextTick();
  }
}

/** The time in which the empty picker is drawn, in milliseconds. */
const DRAWN_WITHIN_MS = 30;

async function untilDrawn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, DRAWN_WITHIN_MS));
  await nextTick();
}
