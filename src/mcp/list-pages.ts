import type { McpList } from './server-data.ts';

/** The maximum number of pages and of items that are read of one list. */
const MAX_PAGES = 64;
const MAX_ITEMS = 5000;

/** One page of a list. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  /** The cursor of the next page. Default: there is none. */
  readonly nextCursor?: string | undefined;
}

/**
 * Reads the pages of a list until the last one, or until there are too many pages or items. A server that repeats a
 * cursor is not asked again.
 */
export async function readAllPages<Item>(
  readPage: (cursor: string | undefined) => Promise<ListPage<Item>>,
): Promise<McpList<Item>> {
  const items: Item[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const page = await readPage(cursor);
    items.push(...page.items.slice(0, MAX_ITEMS - items.length));
    cursor = page.nextCursor;
    const isFull =
      items.length >= MAX_ITEMS && (cursor !== undefined || page.items.length > MAX_ITEMS);
    if (isFull) return { items, isComplete: false };
    if (cursor === undefined) return { items, isComplete: true };
    if (cursors.has(cursor)) return { items, isComplete: false };
    cursors.add(cursor);
  }
  return { items, isComplete: false };
}
