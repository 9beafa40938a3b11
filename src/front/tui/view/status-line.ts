import { basename } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { sanitizeLine } from '../../../base/terminal-text.ts';
import { rootRow } from '../model/task-tree.ts';
import { totalUse, type TotalUse } from '../model/total-use.ts';
import type { AppState } from '../model/app-state.ts';
import type { LibraryInfo } from '../model/ui-library.ts';
import { fitLine, joinFittingFacts, SEPARATOR, visibleWidth } from './fit.ts';
import { shortCost, shortTokens } from './numbers.ts';
import { currentModel } from './main-model.ts';

/** The facts of the status line beside the mode. A fact is null if it is not known. */
export interface StatusFacts {
  readonly directory: string;
  readonly branch: string | null;
  /** `provider/id`. */
  readonly model: string;
  readonly effort: string | null;
  /** The part of the context window that is used, in per cent, and the size of the window. */
  readonly context: { readonly percent: number; readonly window: number } | null;
  /** The cost of the conversation, with a `+` if only a part of it is known, or its tokens if no cost is known. */
  readonly use: string | null;
}

/** The maximum widths of names, which are cut if there is little room. */
const MAX_NAME = 24;
const SHORT_NAME = 12;

/** Reads the facts from the state. */
export function statusFacts(state: AppState, library: LibraryInfo): StatusFacts {
  const { tree, branch, contextWindow } = state;
  const root = rootRow(tree);
  const model = currentModel(state, library);
  const total = totalUse(tree.rows.values());
  const window = contextWindow?.tokens ?? null;
  const used = root?.contextTokens ?? null;
  return {
    directory: basename(library.cwd) || '/',
    branch,
    model: model.name,
    effort: model.effort,
    context:
      window === null || window <= 0 || used === null
        ? null
        : { percent: Math.round((used / window) * 100), window },
    use: total.turns === 0 ? null : statusUse(total),
  };
}

function statusUse({ tokens, pricedUsd, isPriced }: TotalUse): string {
  if (pricedUsd === 0) return `${shortTokens(tokens)}${TOKENS_UNIT}`;
  const cost = pricedUsd >= 0.1 ? `$${pricedUsd.toFixed(2)}` : shortCost(pricedUsd);
  return isPriced ? cost : `${cost}+`;
}

/**
 * Joins the facts so that they take at most `room` columns. If there is too little room, facts become shorter and are
 * left out, those first that the user misses least. Returns an empty text if nothing fits.
 */
export function fitStatus(facts: StatusFacts, room: number): string {
  return firstFitting(shorterTexts(facts), room) ?? '';
}

/** The texts of the status line beside the mode: the facts at its start, and the keys at its end. */
export interface StatusParts {
  readonly facts: string;
  readonly hints: string;
}

/**
 * Fits the facts and the hints, the most important hint first, into `room` columns. The hints give way first, all but
 * `minHints` of them; then facts that can be looked up, the directory only if one hint is left; then the last hint, before
 * the model is left out.
 */
export function fitStatusAndHints(
  facts: StatusFacts,
  hints: readonly string[],
  room: number,
  minHints = 1,
): StatusParts {
  const texts = shorterTexts(facts);
  const fit = (candidates: readonly string[], count: number): StatusParts | null => {
    const end = hints.slice(0, count).join(SEPARATOR);
    const text = firstFitting(candidates, room - visibleWidth(end));
    return text === null ? null : { facts: text, hints: end };
  };
  const whole = texts.slice(0, WHOLE_TEXTS);
  for (let count = hints.length; count > 1; count -= 1) {
    const fitted = fit(whole, count);
    if (fitted !== null) return fitted;
  }
  const withModel = texts.slice(0, -TEXTS_WITHOUT_MODEL);
  const withDirectory = withModel.slice(0, -1);
  const wanted = minHints > 1 && hints.length >= minHints ? fit(withDirectory, minHints) : null;
  const fitted = wanted ?? fit(withModel, 1) ?? fit(withModel, 0);
  if (fitted !== null) return fitted;
  const [first = ''] = hints;
  const text = firstFitting(texts, room - visibleWidth(first)) ?? '';
  return { facts: text, hints: joinFittingFacts(hints, room, visibleWidth(text)) };
}

function firstFitting(texts: readonly string[], room: number): string | null {
  return texts.find((text) => visibleWidth(text) <= room) ?? null;
}

/** Returns the text of all facts, and then the shorter ones in their order. */
function shorterTexts(facts: StatusFacts): readonly string[] {
  let shown: ShownFacts = { ...facts, maxName: MAX_NAME, hasWindow: true };
  const shorter = SHORTENINGS.map((shorten) => {
    shown = { ...shown, ...shorten(shown) };
    return statusText(shown);
  });
  return [statusText({ ...facts, maxName: MAX_NAME, hasWindow: true }), ...shorter];
}

/** The facts that are still shown, and how. */
interface ShownFacts extends Omit<StatusFacts, 'directory' | 'model'> {
  readonly directory: string | null;
  readonly model: string | null;
  readonly maxName: number;
  readonly hasWindow: boolean;
}

/** The unit of a use that is counted in tokens, which says less than a cost. */
const TOKENS_UNIT = ' tok';

/** The number of texts, from the longest one on, that lack nothing but the name of the provider and the window. */
const WHOLE_TEXTS = 3;
/** The number of texts, up to the shortest one, that lack the model. */
const TEXTS_WITHOUT_MODEL = 2;

/** The steps that make the facts shorter, in their order. */
const SHORTENINGS: readonly ((facts: ShownFacts) => Partial<ShownFacts>)[] = [
  ({ model }) => ({ model: model?.slice(model.indexOf('/') + 1) ?? null }),
  () => ({ hasWindow: false }),
  () => ({ effort: null }),
  () => ({ maxName: SHORT_NAME }),
  ({ use }) => ({ use: use?.endsWith(TOKENS_UNIT) === true ? null : use }),
  () => ({ branch: null }),
  () => ({ directory: null }),
  () => ({ model: null }),
  () => ({ context: null }),
];

function statusText(facts: ShownFacts): string {
  const { directory, branch, model, effort, context, use, hasWindow, maxName } = facts;
  const inBranch = branch === null ? '' : ` (${cutName(branch, maxName)})`;
  const ofWindow = hasWindow && context !== null ? ` of ${shortWindow(context.window)}` : '';
  return [
    directory === null ? null : `${cutName(directory, maxName)}${inBranch}`,
    model === null ? null : cutName(model, maxName * 2),
    effort,
    context === null ? null : `${context.percent} %${ofWindow}`,
    use,
  ]
    .filter((text) => text !== null)
    .join(SEPARATOR);
}

/** Cuts a name, which is outside text, to a number of columns. */
function cutName(name: string, width: number): string {
  return stripVTControlCharacters(fitLine(sanitizeLine(name), width));
}

/** Formats the size of a context window: `200k`, `1M`. */
function shortWindow(tokens: number): string {
  return tokens >= 1_000_000
    ? `${Math.round(tokens / 100_000) / 10}M`
    : `${Math.round(tokens / 1_000)}k`;
}
