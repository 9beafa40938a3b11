import type { AppState } from '../model/app-state.ts';
import {
  createPicker,
  scrollToSelected,
  select,
  selectedItem,
  setItems,
  setPreview,
  setQuery,
  toggleWide,
  type Picker,
  type PickerItem,
  type PickerKind,
} from '../model/picker.ts';
import { pickerLayout } from '../view/picker.ts';
import {
  type ActionHandlers,
  andThen,
  next,
  setEditorText,
  type Update,
  type UpdateContext,
} from './step.ts';
import type { UiMessage } from './message.ts';
import { changePicker, closePicker, openPicker, pickEffort } from './open-picker.ts';
import { taskItems, UNDO_SCOPES } from './picker-items.ts';
import { takeServer, takeServerRow } from './commands/mcp.ts';
import { takeMemoryFile } from './commands/memory.ts';
import { takeMode, takeRule, takeRuleAction } from './commands/permissions.ts';
import { shellItems, stopSelectedShell, takeShell } from './commands/shells.ts';
import { UNSET } from './setting-items.ts';
import { editSetting } from './settings.ts';
import { planUndo } from './rewind.ts';
import { openTask } from './tasks.ts';

/** The handlers of the keys of the picker and of completions, and of the key that opens the history. */
export const PICKER_ACTIONS = {
  'picker-up': (state) => moveBy(state, -1),
  'picker-down': (state) => moveBy(state, 1),
  'picker-page-up': (state) => moveBy(state, -pageOf(state)),
  'picker-page-down': (state) => moveBy(state, pageOf(state)),
  'picker-take': takeSelected,
  'picker-toggle': (state) =>
    changePicker(state, (picker) => (TOGGLED.has(picker.kind) ? toggleWide(picker) : picker)),
  'completion-page-up': (state) => next(state, { type: 'page-completions', by: -1 }),
  'completion-page-down': (state) => next(state, { type: 'page-completions', by: 1 }),
  history: (state) => openPicker(state, createPicker('history', null), { type: 'list-history' }),
} satisfies ActionHandlers;

/** The handlers of keys that mean something else while a list fills the screen. */
export const IN_PICKER = {
  'stop-focused': (state, _context, armed) => stopSelectedShell(state, armed),
  'page-up': PICKER_ACTIONS['picker-page-up'],
  'page-down': PICKER_ACTIONS['picker-page-down'],
  'line-up': PICKER_ACTIONS['picker-up'],
  'line-down': PICKER_ACTIONS['picker-down'],
  'to-end': (state) => moveBy(state, state.picker?.matches.length ?? 0),
} satisfies ActionHandlers;

/** The pickers whose toggle key shows the items of all directories. */
const TOGGLED: ReadonlySet<PickerKind> = new Set(['conversations', 'history']);

/** Filters the list by the text that is in the editor now. */
export function typeInPicker(state: AppState, typed: string): Update {
  if (state.writing.kind !== 'picker') return next(state);
  return changePicker(state, (picker) => setQuery(picker, typed));
}

/** Moves the selection, as the mouse wheel does. */
export function moveBy(state: AppState, lines: number): Update {
  return changePicker(state, (picker) => select(picker, picker.selected + lines));
}

function pageOf({ size }: AppState): number {
  return Math.max(1, pickerLayout(size).list.height - 1);
}

/** Fills the list of the open picker. Ignores a list that another picker requested. */
export function fillPicker(
  state: AppState,
  { kind, items, isLoading, note }: Extract<UiMessage, { type: 'picker-filled' }>,
): Update {
  if (state.picker?.kind !== kind) return next(state);
  return changePicker(state, (picker) => setItems(picker, items, { isLoading, note }));
}

/** Shows a preview that was read. */
export function showPreview(
  state: AppState,
  { kind, id, parts }: Extract<UiMessage, { type: 'preview-read' }>,
): AppState {
  const { picker } = state;
  return picker?.kind === kind ? { ...state, picker: setPreview(picker, id, parts) } : state;
}

/** Brings the list of tasks or shells up to date, and scrolls the list so that the selected item is in view at the present size. */
export function settlePicker(state: AppState, { now }: UpdateContext): AppState {
  const { picker, tree, size } = state;
  if (picker === null) return state;
  const { isLoading, note } = picker;
  const items =
    picker.kind === 'tasks'
      ? taskItems(tree, now())
      : picker.kind === 'shells'
        ? shellItems(tree, now())
        : null;
  const current = items === null ? picker : setItems(picker, items, { isLoading, note });
  return { ...state, picker: scrollToSelected(current, pickerLayout(size).list.height) };
}

/** Does what the open picker is for with the selected item. */
export function takeSelected(state: AppState, context: UpdateContext): Update {
  const { picker } = state;
  const item = picker === null ? undefined : selectedItem(picker);
  if (picker === null || item === undefined) return next(state);
  return andThen(closePicker(state), (closed) => takeItem(closed, picker, item, context));
}

function takeItem(
  state: AppState,
  picker: Picker,
  item: PickerItem,
  context: UpdateContext,
): Update {
  switch (picker.kind) {
    case 'conversations':
      return next(state, runCommand('resume', item.id));
    case 'models':
      if (item.efforts === undefined) return next(state, runCommand('model', item.id));
      return pickEffort(state, item, { efforts: item.efforts, library: context.library });
    case 'efforts':
      return next(state, runCommand('model', `${picker.subject?.id} ${item.id}`));
    case 'agents':
      return setEditorText(state, `${withBlank(state.typed)}@${item.id} `);
    case 'tasks':
      return openTask(state, item.id);
    case 'messages':
      return openPicker(state, createPicker('undo-scope', UNDO_SCOPES, { subject: item }));
    case 'undo-scope': {
      const { subject } = picker;
      return subject === null ? next(state) : planUndo(state, subject, item.id);
    }
    case 'settings':
      return editSetting(state, item);
    case 'setting-values': {
      const key = picker.subject?.id ?? '';
      const text = item.id === UNSET ? null : item.id;
      return next(state, { type: 'change-setting', key, text, isListed: true });
    }
    case 'themes':
      return next(state, runCommand('theme', item.id));
    case 'history':
      return setEditorText(state, item.text ?? item.title);
    case 'rules':
      return takeRule(state, item);
    case 'rule-actions':
      return takeRuleAction(state, picker.subject, item);
    case 'shells':
      return takeShell(state, item);
    case 'memory':
      return takeMemoryFile(state, item);
    case 'servers':
      return takeServer(state, item, context);
    case 'server':
      return takeServerRow(state, { subject: picker.subject, item }, context);
    case 'modes':
      return takeMode(state, item);
    default:
      return picker.kind satisfies never;
  }
}

function runCommand(name: string, argument: string) {
  return { type: 'dispatch', message: { type: 'run-command', name, argument } } as const;
}

/** Adds a blank to a text that does not end with white space, so that a word can follow. */
function withBlank(text: string): string {
  return text === '' || /\s$/.test(text) ? text : `${text} `;
}
