import type { UserSetting } from '../../../api/index.ts';
import { THEME_CHOICES, type ThemeChoice } from '../../../protocol/terminal-settings.ts';
import type { Effort } from '../../../protocol/model.ts';
import { filterByText, searchedText, type SearchedText } from './fuzzy-match.ts';

/** The lists that a picker can show. */
export type PickerKind =
  | 'conversations'
  | 'models'
  | 'efforts'
  | 'agents'
  | 'tasks'
  | 'messages'
  | 'undo-scope'
  | 'history'
  | 'rules'
  | 'rule-actions'
  | 'modes'
  | 'shells'
  | 'memory'
  | 'settings'
  | 'setting-values'
  | 'themes'
  | 'servers'
  | 'server';

/** A part of a preview: a label and the text below it. An empty label is left out. */
export interface PreviewPart {
  readonly label: string;
  readonly text: string;
}

/** An item of a picker. All texts are raw; they are made plain when they are drawn. */
export interface PickerItem {
  readonly id: string;
  readonly title: string;
  /** A sign before the title, such as the state of a task. */
  readonly sign?: string;
  /** A remark after the title, such as `in use`. */
  readonly mark?: string;
  /** The details, one for each column of the list. */
  readonly cells: readonly string[];
  /** More text that the filter searches. */
  readonly searched?: string;
  /** Set if the item is shown only after the toggle key. */
  readonly isElsewhere?: true;
  /** The text that taking the item inserts or takes back; default: the id. */
  readonly text?: string;
  /** The efforts that the model of the item offers. */
  readonly efforts?: readonly Effort[];
  /** The setting that the item shows. */
  readonly setting?: UserSetting;
  /** Default: the preview is read when the item is selected. */
  readonly preview?: readonly PreviewPart[];
}

/** The state of the picker: a list that fills the screen and is filtered by what the user types. */
export interface Picker {
  readonly kind: PickerKind;
  readonly items: readonly PickerItem[];
  /** The typed filter. */
  readonly query: string;
  /** The items that match the filter, the best first. */
  readonly matches: readonly PickerItem[];
  /** The index of the selected match. */
  readonly selected: number;
  /** The index of the first match in view. */
  readonly top: number;
  /** Whether more items are being read. */
  readonly isLoading: boolean;
  /** A remark about the list, such as a provider that did not answer; empty if there is none. */
  readonly note: string;
  /** Whether items of elsewhere are shown, too. */
  readonly isWide: boolean;
  /** The previews that were read, by the id of the item. */
  readonly previews: ReadonlyMap<string, readonly PreviewPart[]>;
  /**
   * The item that an earlier picker chose: the message to which an undo returns, the rule of an action, the setting to
   * change, or the model.
   */
  readonly subject: PickerItem | null;
}

/** The maximum number of previews that are kept. */
const MAX_PREVIEWS = 40;

const texts = new WeakMap<PickerItem, SearchedText>();

/** Returns the prepared text of an item, which is computed once. */
function textOf(item: PickerItem): SearchedText {
  const known = texts.get(item);
  if (known !== undefined) return known;
  const text = searchedText(item.title, [item.searched ?? '', ...item.cells].join(' '));
  texts.set(item, text);
  return text;
}

/** Prepares items for the filter, so that the first typed letter need not wait for this. */
export function prepareItems(items: readonly PickerItem[]): void {
  for (const item of items) textOf(item);
}

/** Creates a picker. Without `items`, the list is still being read. */
export function createPicker(
  kind: PickerKind,
  items: readonly PickerItem[] | null,
  known: Partial<Pick<Picker, 'note' | 'subject'>> = {},
): Picker {
  const all = items ?? [];
  const picker: Picker = {
    kind,
    items: all,
    query: '',
    matches: [],
    selected: 0,
    top: 0,
    isLoading: items === null,
    note: '',
    isWide: false,
    previews: new Map(),
    subject: null,
    ...known,
  };
  return { ...picker, matches: matchesIn(picker) };
}

function matchesIn({ items, isWide, query }: Picker): readonly PickerItem[] {
  const shown = isWide ? items : items.filter(({ isElsewhere }) => isElsewhere !== true);
  return filterByText(shown, query, textOf);
}

/** Filters the items by what is typed now. The best match is selected. */
export function setQuery(picker: Picker, query: string): Picker {
  if (query === picker.query) return picker;
  return select({ ...picker, query, matches: matchesIn({ ...picker, query }) }, 0);
}

/** Shows the items of elsewhere, too, or hides them again. The selected item stays selected if it is still shown. */
export function toggleWide(picker: Picker): Picker {
  const wide = { ...picker, isWide: !picker.isWide };
  return keepSelected({ ...wide, matches: matchesIn(wide) }, selectedItem(picker)?.id);
}

/** Replaces the items. The selected item stays selected if it is still there. */
export function setItems(
  picker: Picker,
  items: readonly PickerItem[],
  { isLoading, note }: Pick<Picker, 'isLoading' | 'note'>,
): Picker {
  const filled = { ...picker, items, isLoading, note };
  // Before the user has moved, the chosen item of before or else the first one is selected, whatever arrives.
  const id = picker.selected === 0 ? picker.subject?.id : selectedItem(picker)?.id;
  return keepSelected({ ...filled, matches: matchesIn(filled) }, id);
}

function keepSelected(picker: Picker, id: string | undefined): Picker {
  const index = id === undefined ? -1 : picker.matches.findIndex((item) => item.id === id);
  return select(picker, Math.max(0, index));
}

/** Selects the match with an index, or the nearest one that exists. */
export function select(picker: Picker, index: number): Picker {
  const last = Math.max(0, picker.matches.length - 1);
  return { ...picker, selected: Math.min(Math.max(0, index), last) };
}

/** Returns the theme that a list shows while its item is selected; null if the list is about something else. */
export function previewedTheme(picker: Picker): ThemeChoice | null {
  if (!isThemePicker(picker)) return null;
  const id = selectedItem(picker)?.id;
  return THEME_CHOICES.find((theme) => theme === id) ?? null;
}

export function isThemePicker({ kind, subject }: Pick<Picker, 'kind' | 'subject'>): boolean {
  return kind === 'themes' || (kind === 'setting-values' && subject?.id === 'terminal.theme');
}

export function selectedItem({ matches, selected }: Picker): PickerItem | undefined {
  return matches[selected];
}

/** Scrolls as little as possible to show the selected match in a list of `height` lines. */
export function scrollToSelected(picker: Picker, height: number): Picker {
  const { selected, matches } = picker;
  const lines = Math.max(1, height);
  const max = Math.max(0, matches.length - lines);
  const top = Math.min(max, Math.max(selected - lines + 1, Math.min(picker.top, selected)));
  return top === picker.top ? picker : { ...picker, top };
}

/** Keeps a preview that was read. The oldest ones are dropped. */
export function setPreview(picker: Picker, id: string, parts: readonly PreviewPart[]): Picker {
  const kept = [...picker.previews].filter(([known]) => known !== id).slice(1 - MAX_PREVIEWS);
  return { ...picker, previews: new Map([...kept, [id, parts]]) };
}

/** Returns the preview of an item; null if it has not been read yet. */
export function previewOf(picker: Picker, item: PickerItem): readonly PreviewPart[] | null {
  return item.preview ?? picker.previews.get(item.id) ?? null;
}
