import type { UserSetting } from '../../../api/index.ts';
import type { AppState } from '../model/app-state.ts';
import {
  createPicker,
  isThemePicker,
  previewedTheme,
  previewOf,
  scrollToSelected,
  select,
  selectedItem,
  type Picker,
  type PickerItem,
} from '../model/picker.ts';
import { pickerLayout } from '../view/picker.ts';
import {
  andThen,
  leaveQuestion,
  next,
  setEditorText,
  type Update,
  type UpdateContext,
} from './step.ts';
import { rootRow } from '../model/task-tree.ts';
import type { Effort } from '../../../protocol/model.ts';
import { agentItems, effortItems, taskItems } from './picker-items.ts';
import { settingValueItems, themeItems } from './setting-items.ts';
import { endSearch } from './search.ts';

/** Opens a picker over the screen. The text in the editor returns when the picker is closed. */
export function openPicker(state: AppState, picker: Picker, ...effects: Update['effects']): Update {
  return andThen(endSearch(state), (ended) =>
    andThen(leaveQuestion(ended), (left) => {
      const draft = left.picker === null ? left.typed : draftOf(left);
      const opened: AppState = {
        ...left,
        picker,
        focus: 'picker',
        chosenEntry: null,
        writing: { kind: 'picker', draft },
      };
      return andThen(setEditorText(opened, ''), (shown) =>
        andThen(next(shown, ...effects), requestPreview),
      );
    }),
  );
}

function draftOf({ writing }: AppState): string {
  return writing.kind === 'message' ? '' : writing.draft;
}

/** Closes the picker and restores the text that was in the editor. Does nothing if no picker is open. */
export function closePicker(state: AppState): Update {
  if (state.picker === null) return next(state);
  const closed: AppState = {
    ...state,
    picker: null,
    focus: 'editor',
    writing: { kind: 'message' },
  };
  return andThen(setEditorText(closed, draftOf(state)), (restored) =>
    state.picker !== null && isThemePicker(state.picker)
      ? next(restored, { type: 'use-theme', theme: state.terminal.theme })
      : next(restored),
  );
}

/** `/resume` without an id. */
export function pickConversation(state: AppState): Update {
  return openPicker(state, createPicker('conversations', null), { type: 'list-conversations' });
}

/** `/model` without a name. */
export function pickModel(state: AppState): Update {
  return openPicker(state, createPicker('models', null), { type: 'list-models' });
}

/** Asks for the effort after a model was chosen whose efforts are known. */
export function pickEffort(
  state: AppState,
  model: PickerItem,
  { efforts, library }: { readonly efforts: readonly Effort[] } & Pick<UpdateContext, 'library'>,
): Update {
  const current = rootRow(state.tree)?.effort ?? library.mainEffort();
  const picker = createPicker('efforts', effortItems(efforts, current), { subject: model });
  return openPicker(state, selectMarked(picker));
}

/** `/agents` */
export function pickAgent(state: AppState, { library }: UpdateContext): Update {
  return openPicker(state, createPicker('agents', agentItems(library)));
}

/** `/tasks` */
export function pickTask(state: AppState, { now }: UpdateContext): Update {
  const { droppedRows } = state.tree;
  const note = droppedRows === 0 ? '' : `${droppedRows} more: muster tasks list`;
  return openPicker(state, createPicker('tasks', taskItems(state.tree, now()), { note }));
}

/** `/undo` without an argument, in a conversation that is idle. */
export function pickMessage(state: AppState, conversation: string): Update {
  const effect = { type: 'list-messages', conversation } as const;
  return openPicker(state, createPicker('messages', null), effect);
}

/** `/config`. The setting with the key is selected; null for the first one. */
export function pickSetting(state: AppState, key: string | null): Update {
  const subject = key === null ? null : { id: key, title: key, cells: [] };
  return openPicker(state, createPicker('settings', null, { subject }), { type: 'list-settings' });
}

/** Opens the list of the values of a setting. The value in use is selected. */
export function pickSettingValue(state: AppState, item: PickerItem, setting: UserSetting): Update {
  const items = settingValueItems(setting);
  const picker = createPicker('setting-values', items, { subject: item });
  return openPicker(state, selectMarked(picker));
}

/** `/theme` without a name. */
export function pickTheme(state: AppState): Update {
  return openPicker(state, selectMarked(createPicker('themes', themeItems(state.terminal.theme))));
}

/** Selects the item with a mark, which is the one in use. */
function selectMarked(picker: Picker): Picker {
  return select(
    picker,
    picker.matches.findIndex(({ mark }) => mark !== undefined),
  );
}

/** Changes the open picker, if there is one, and scrolls its list to the selected item. */
export function changePicker(state: AppState, change: (picker: Picker) => Picker): Update {
  if (state.picker === null) return next(state);
  const changed = change(state.picker);
  const picker = scrollToSelected(changed, pickerLayout(state.size).list.height);
  return requestPreview({ ...state, picker });
}

/** Has the preview of the selected item read, if it is not known, and uses the colors that a list of themes shows. */
function requestPreview(state: AppState): Update {
  const { picker } = state;
  const item = picker === null ? undefined : selectedItem(picker);
  const theme = picker === null ? null : previewedTheme(picker);
  if (theme !== null) return next(state, { type: 'use-theme', theme });
  if (picker === null || item === undefined || previewOf(picker, item) !== null) return next(state);
  return next(state, { type: 'read-preview', kind: picker.kind, id: item.id });
}
