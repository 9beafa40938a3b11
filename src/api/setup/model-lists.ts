import { isJsonObject } from '../../base/json.ts';
import { parseJsonLine } from '../../base/jsonl.ts';
import {
  readStoredList,
  toStoredJson,
  type ListStore,
  type StoredList,
} from '../../model/listing/stored-list.ts';
import { StateFile } from '../../store/state/state-file.ts';

const FILE_NAME = 'model-lists.json';
const VERSION = 1;
/** The maximum number of lists and of characters that are kept. The oldest lists are dropped. */
const MAX_LISTS = 100;
const MAX_LENGTH = 8_000_000;

/**
 * Opens the lists of models in the state directory. They are one file that only the user can read (0600), and that is
 * replaced as a whole. Damaged content counts as no list, since every list can be asked for again.
 *
 * @param directory the state directory
 */
export function openModelLists(directory: string): ListStore {
  const file = new StateFile(directory, FILE_NAME, 'run "muster models --refresh"');
  return {
    all: () => parseLists(file.read()),
    save: (lists) =>
      file.update((before) => {
        const isReplaced = ({ baseUrl, account }: StoredList): boolean =>
          lists.some((list) => list.baseUrl === baseUrl && list.account === account);
        const others = parseLists(before).filter((list) => !isReplaced(list));
        return formatLists([...lists, ...others]);
      }),
  };
}

function parseLists(text: string | undefined): readonly StoredList[] {
  const value = text === undefined ? undefined : parseJsonLine(text);
  if (!isJsonObject(value) || value['version'] !== VERSION) return [];
  const { lists } = value;
  if (!Array.isArray(lists)) return [];
  return lists.flatMap((list: unknown) => readStoredList(list) ?? []);
}

/** Formats the newest lists, with one list on each line. */
function formatLists(lists: readonly StoredList[]): string {
  const newest = lists.toSorted((a, b) => b.askedAt - a.askedAt).slice(0, MAX_LISTS);
  const lines: string[] = [];
  let length = 0;
  for (const list of newest) {
    const line = JSON.stringify(toStoredJson(list));
    length += line.length;
    if (length > MAX_LENGTH) break;
    lines.push(line);
  }
  return `{"version":${VERSION},"lists":[\n${lines.join(',\n')}\n]}\n`;
}
