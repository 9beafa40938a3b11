import type { Tasks } from '../../api/index.ts';
import { MusterError } from '../../base/errors.ts';
import { collapseWhitespace, plural } from '../../base/text.ts';
import type { SearchHit, SearchReply, TaskRow } from './wire.ts';

/** The maximum number of tasks that a search finds. */
const MAX_HITS = 100;
/** The time for reading logs in one search. What was read is kept, so that the next search gets further. */
const READ_MS = 3_000;
/** The maximum length of the texts of all tasks that are kept, in UTF-16 units. */
const MAX_KEPT_LENGTH = 64_000_000;
/** The number of characters that a hit shows before and after the match. */
const MAX_CONTEXT = 80;

interface TaskTexts {
  readonly prompt: string;
  readonly result: string;
}

type ReadTasks = Pick<Tasks, 'events'>;

/** Searches the ids, titles, prompts and results of tasks. */
export class TaskSearch {
  readonly #tasks: ReadTasks;
  readonly #readMs: number;
  readonly #maxKeptLength: number;
  /** The texts of tasks that have ended, by id and the time of the end. */
  readonly #kept = new Map<string, TaskTexts>();
  #keptLength = 0;

  constructor(tasks: ReadTasks, { readMs = READ_MS, maxKeptLength = MAX_KEPT_LENGTH } = {}) {
    this.#tasks = tasks;
    this.#readMs = readMs;
    this.#maxKeptLength = maxKeptLength;
  }

  /** @param rows from new to old */
  async find(query: string, rows: readonly TaskRow[], signal: AbortSignal): Promise<SearchReply> {
    const words = collapseWhitespace(query);
    const hits: SearchHit[] = [];
    if (words === '') return { hits, note: null };
    const wanted = new RegExp(words.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'iu');
    this.#forgetExcept(new Set(rows.map(toKey)));
    const giveUpAt = performance.now() + this.#readMs;
    let unread = 0;
    for (const row of rows) {
      if (signal.aborted) break;
      if (hits.length === MAX_HITS) {
        return { hits, note: `only the ${MAX_HITS} newest tasks that were found are shown` };
      }
      const quick = findIn(row.id, row, 'id', wanted) ?? findIn(row.id, row, 'title', wanted);
      if (quick !== null) {
        hits.push(quick);
        continue;
      }
      const kept = this.#kept.get(toKey(row));
      if (kept === undefined && performance.now() > giveUpAt) {
        unread += 1;
        continue;
      }
      const texts = kept ?? (await this.#read(row));
      const hit =
        findIn(row.id, texts, 'prompt', wanted) ?? findIn(row.id, texts, 'result', wanted);
      if (hit !== null) hits.push(hit);
    }
    const note = `the texts of ${plural(unread, 'task')} were not searched yet; search again`;
    return { hits, note: unread === 0 ? null : note };
  }

  async #read(row: TaskRow): Promise<TaskTexts> {
    let [prompt, result] = ['', ''];
    try {
      for await (const event of this.#tasks.events(row.id)) {
        if (event.type === 'task.created') prompt = event.spec.prompt;
        if (event.type === 'task.ended') result = event.result;
      }
    } catch (thrown) {
      // The task has been deleted, or its log cannot be read.
      if (!(thrown instanceof MusterError)) throw thrown;
    }
    const texts = { prompt: collapseWhitespace(prompt), result: collapseWhitespace(result) };
    if (row.ended !== null) this.#keep(toKey(row), texts);
    return texts;
  }

  #keep(key: string, texts: TaskTexts): void {
    // Another search may have read the same log meanwhile.
    this.#forget(key);
    this.#kept.set(key, texts);
    this.#keptLength += lengthOf(texts);
    for (const oldest of this.#kept.keys()) {
      if (this.#keptLength <= this.#maxKeptLength) return;
      this.#forget(oldest);
    }
  }

  /** Forgets the texts of tasks that were deleted or have continued. */
  #forgetExcept(keys: ReadonlySet<string>): void {
    for (const key of this.#kept.keys()) if (!keys.has(key)) this.#forget(key);
  }

  #forget(key: string): void {
    const texts = this.#kept.get(key);
    if (texts === undefined) return;
    this.#kept.delete(key);
    this.#keptLength -= lengthOf(texts);
  }
}

function lengthOf({ prompt, result }: TaskTexts): number {
  return prompt.length + result.length;
}

function toKey({ id, ended }: TaskRow): string {
  return `${id} ${ended}`;
}

function findIn<Field extends SearchHit['where']>(
  id: string,
  texts: Readonly<Record<Field, string>>,
  where: Field,
  wanted: RegExp,
): SearchHit | null {
  const text = texts[where];
  const found = wanted.exec(text);
  if (found === null) return null;
  const [match] = found;
  const end = found.index + match.length;
  return {
    id,
    where,
    before: text.slice(Math.max(0, found.index - MAX_CONTEXT), found.index),
    match,
    after: text.slice(end, end + MAX_CONTEXT),
  };
}
