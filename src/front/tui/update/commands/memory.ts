import type { AppState } from '../../model/app-state.ts';
import { createPicker, type PickerItem } from '../../model/picker.ts';
import { openPicker } from '../open-picker.ts';
import { hint, next, type Update } from '../step.ts';

/** A file that agents read, or that the user can create. */
export interface MemoryEntry {
  /** The name as prompts spell it. */
  readonly name: string;
  /** The absolute path. */
  readonly path: string;
  /** `imported`: another context file imports it. `notes`: agents write it. */
  readonly kind: 'project' | 'user' | 'imported' | 'notes';
  /** The size in bytes; null if the file does not exist. */
  readonly size: number | null;
  /** Whether only the beginning fits into prompts. */
  readonly isCut: boolean;
  readonly text: string;
}

const KINDS: Readonly<Record<MemoryEntry['kind'], string>> = {
  project: 'project',
  user: 'yours',
  imported: 'imported',
  notes: 'notes of agents',
};

/** `/memory`: lists the context files and the notes of agents. */
export function memory(state: AppState): Update {
  const effect = { type: 'list-memory' } as const;
  return state.surface === 'screen'
    ? openPicker(state, createPicker('memory', null), effect)
    : next(state, effect);
}

export function memoryItems(entries: readonly MemoryEntry[]): readonly PickerItem[] {
  return entries.map(({ name, path, kind, size, isCut, text }) => ({
    id: path,
    title: name,
    ...(size === null ? { mark: 'new' } : isCut ? { mark: 'cut' } : {}),
    cells: [size === null ? '' : sizeText(size), KINDS[kind]],
    searched: path,
    preview: [
      { label: '', text: path },
      size === null
        ? { label: '', text: 'It does not exist yet. Enter opens your editor, which creates it.' }
        : { label: 'text', text },
    ],
  }));
}

/** Returns the lines of the list for plain lines. */
export function memoryLines(items: readonly PickerItem[]): readonly string[] {
  const lines = items.map(({ id, cells, mark }) =>
    [id, ...cells.filter((cell) => cell !== ''), ...(mark === undefined ? [] : [mark])].join(', '),
  );
  return [...lines, '# NOTE adds a line to the file of the project; edit the files in your editor'];
}

function sizeText(bytes: number): string {
  return bytes < 1_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(1)} kB`;
}

/** Opens the selected file in the user's editor. */
export function takeMemoryFile(state: AppState, { id }: PickerItem): Update {
  if (state.conversation.isWatched) return hint(state, 'files can be edited only in your own UI');
  return next(state, { type: 'edit-memory', path: id });
}
