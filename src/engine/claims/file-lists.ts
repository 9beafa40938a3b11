import type { Evidence } from './evidence.ts';
import { ASIDE, FILE } from './file-claims.ts';
import type { Statement } from './statements.ts';
import { CHANGED, isVetoed, LOOKED, partsOf, saysUnchanged } from './wording.ts';

/**
 * Numbers of the files, by statement, of which an answer says that they were changed by naming them beside
 * others: in a list where one was, or in one breath with it.
 */
export function filesListed(
  account: readonly Statement[],
  evidence: Evidence,
): ReadonlyMap<Statement, readonly number[]> {
  const items = itemsOfChanges(account, evidence);
  return new Map(
    account.map((statement) => [
      statement,
      [...(items.get(statement) ?? []), ...besideChanged(statement, evidence)],
    ]),
  );
}

const NAMES_MORE =
  '(?:(?:,? (?:and|&|plus|as well as) (?:the |its |in |to |also ){0,3}(?:[\\w-]+ ){0,2}|, (?:and )?(?:[\\w-]+: )?|/)\\(?‹f\\d+›(?: ?\\([^()]{0,80}\\))?)';
/** Files in one breath. */
const TOGETHER = new RegExp(`‹f\\d+›(?: ?\\([^()]{0,80}\\))?${NAMES_MORE}{1,30}`, 'g');
/** In front of what was changed, or where; or at the start. */
const LEADS_IN =
  /(?:^(?:[^\w‹]*(?:plus|and|as well as|along with) )?|[(:] ?(?:the (?:[\w-]+ )?)?|\b(?:in|into|to|from|now|both|of|for|across) (?:(?:the|both|all) )?(?:[\w-]+ ){0,2})$/;
/** Leads a list of changes. */
const TELLS_OF_CHANGE = new RegExp(`(?<![\\w'‹-])(?:${CHANGED}|now|new|got|gone)(?![\\w'-])`);

/** Numbers of the files in each list of a statement of which one may be true for all: `(‹f0›, ‹f1›)`. */
function filesTogether({ text }: Statement): readonly (readonly number[])[] {
  return partsOf(text).flatMap((part) =>
    [...part.matchAll(TOGETHER)].flatMap(({ 0: files, index }) => {
      const before = part.slice(0, index);
      const isClaim =
        LEADS_IN.test(before) &&
        !LOOKED.test(before.replace('affected', '')) &&
        (/[(:] ?$/.test(before)
          ? !/\b(?:see|like|as|e\.g\.)\b/.test(before)
          : !ASIDE.test(`${before} `)) &&
        !isVetoed(part) &&
        !saysUnchanged(part);
      return isClaim ? [[...files.matchAll(FILE)].map(([, at]) => Number(at))] : [];
    }),
  );
}

const ITEM_FILES =
  /^(?:[^‹:–—]{0,40}(?:[:–—¦]| -| in| \() ?)?(?:[^\w‹]|(?:new|the|file|in) )*(‹f\d+›(?:(?:, | and |\/)‹f\d+›)*)/;

/** The files that a list item or table row begins with. */
function filesOfItem({ text }: Statement): readonly number[] {
  const list = ITEM_FILES.exec(text)?.[1] ?? '';
  return [...list.matchAll(FILE)].map(([, at]) => Number(at));
}

/** Files that are named in one breath with one that was changed. */
function besideChanged(statement: Statement, evidence: Evidence): readonly number[] {
  const { files } = statement;
  if (files.length < 2) return [];
  return filesTogether(statement)
    .filter((list) => list.some((at) => evidence.isChanged(files[at] ?? '')))
    .flat();
}

/** Lists of files are lists of changes where one of the files was changed, or where they are called so. */
function itemsOfChanges(
  account: readonly Statement[],
  evidence: Evidence,
): ReadonlyMap<Statement, readonly number[]> {
  const lists = new Map<number, { statement: Statement; files: readonly number[] }[]>();
  for (const statement of account) {
    const files = statement.list === null ? [] : filesOfItem(statement);
    if (statement.list !== null && files.length > 0) {
      const list = lists.get(statement.list) ?? [];
      list.push({ statement, files });
      lists.set(statement.list, list);
    }
  }
  const items = new Map<Statement, readonly number[]>();
  for (const list of lists.values()) {
    const hasTouched = list.some(({ statement, files }) =>
      files.some((at) => !evidence.isUntouched(statement.files[at] ?? '')),
    );
    const lead = list[0]?.statement.under ?? '';
    const isCalledSo =
      /\b(?:changes?|edits|updates|what i did|done)\b/.test(lead) || TELLS_OF_CHANGE.test(lead);
    if (!hasTouched && !isCalledSo) continue;
    for (const { statement, files } of list)
      if (!saysUnchanged(statement.text)) items.set(statement, files);
  }
  return items;
}
