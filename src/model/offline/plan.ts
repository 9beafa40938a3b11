import type { JsonObject } from '../../base/json.ts';
import { answerFromChildren, answerFromSearch } from './answer.ts';
import { answerWithChanges, NO_GIT } from './changes-answer.ts';
import { changeCalls, foundChanges } from './changes-plan.ts';
import { answerWithOutline } from './outline-answer.ts';
import { outlineCalls } from './outline-plan.ts';
import { delegation, globOf, type PlannedCall } from './plan-calls.ts';
import { HELP, NO_TOOLS } from './answer-words.ts';
import { FIND_PLACES, foundPlaces, type FoundPlaces } from './found-places.ts';
import { answerFromPlaces, tellingPlaces } from './place-answer.ts';
import { definedName } from '../../base/code/definition.ts';
import { definitionPattern } from './definition-pattern.ts';
import { EVERY_LINE, gatherEvidence, type Evidence } from './evidence.ts';
import { readIntent, type Intent } from './intent.ts';
import { anyOf, compoundPattern } from './pattern.ts';
import { rankFiles, type RankedFile } from './rank.ts';
import type { Situation } from './situation.ts';
import type { Query } from './terms.ts';
import { MAX_TOPICS } from './topics.ts';

/** What the engine says next: calls, or its answer. */
export type Step =
  | { readonly type: 'calls'; readonly calls: readonly PlannedCall[] }
  | { readonly type: 'answer'; readonly text: string };

/** A question's bounds: whatever happens, it is answered within them. */
const MAX_ROUNDS = 6;
export const MAX_CALLS = 25;

const SEARCH_TOOLS = [FIND_PLACES, 'Glob', 'Grep', 'Read'];

/** Files that are measured and searched for definitions, of these searched line by line, and read. */
const CANDIDATES = 30;
const LOCATED = 12;
const OPENED = 5;
/** A file up to this long is read whole, of a longer one a window of this many lines. */
const WINDOW = 400;
/** Of a window, before the first line that was found. */
const WINDOW_LEAD = 20;
/** Lines of a place that a search has named. */
const PLACE_WINDOW = 80;
const LISTED_LINES = 400;
/** Words that are looked for in pairs: n of them make n · (n − 1) patterns. */
const PAIRED = 5;

/**
 * The next step, from nothing but the conversation: find places → read them → answer. An agent
 * without that search surveys (files, counts of every term, symbols) → locates (lines of the best
 * files) → reads → answers. A pure function.
 */
export function nextStep(situation: Situation): Step {
  const intent = readIntent(situation);
  const { query, topics } = intent;
  const chosen = intent.question === '' ? [] : situation.chosen;
  if (chosen.length > 0 && situation.rounds.length === 0 && mayDelegate(situation)) {
    return calls(
      chosen.map((type) => delegation(intent.question, type)),
      situation,
    );
  }
  const merged = answerFromChildren(topics, situation);
  if (merged !== null) return answer(merged);
  if (intent.changes) return changesStep(intent, situation);
  if (query.terms.length === 0 && query.paths.length === 0 && intent.directory === null) {
    return answer(HELP);
  }
  if (!SEARCH_TOOLS.some((name) => situation.tools.has(name))) return answer(NO_TOOLS);
  const evidence = gatherEvidence(situation);
  const found = foundPlaces(situation);
  const finish = () =>
    answer(
      found === null
        ? answerFromSearch(intent, evidence)
        : answerFromPlaces(intent, found, evidence),
    );
  if (!situation.mayCall || situation.rounds.length >= MAX_ROUNDS) return finish();
  if (mayDelegate(situation) && situation.rounds.length === 0) {
    const parts = delegatedParts(intent, situation);
    if (parts.length > 0) {
      return calls(
        parts.map((part) => delegation(part, 'Explore')),
        situation,
      );
    }
  }
  const left = MAX_CALLS - evidence.callCount;
  const isOutline = isOutlined(intent, situation, evidence);
  const next = isOutline
    ? outlineCalls(intent, situation, evidence)
    : searchCalls(intent, situation, evidence);
  const allowed = next.filter((call) => situation.tools.has(call.name)).slice(0, left);
  if (allowed.length > 0) return calls(allowed, situation);
  return isOutline ? answer(answerWithOutline(intent, evidence)) : finish();
}

/** What only looked like the name of a directory is searched for, once Glob has found none. */
function isOutlined(
  { outline, directory }: Intent,
  situation: Situation,
  { files }: Evidence,
): boolean {
  if (directory === null || !called(situation, 'Glob')) return outline;
  return files.size > 0 && !called(situation, FIND_PLACES) && !called(situation, 'Grep');
}

/** What changed, from git; whoever has no Bash asks somebody who has. */
function changesStep(intent: Intent, situation: Situation): Step {
  if (!situation.tools.has('Bash')) {
    if (!mayDelegate(situation)) return answer(NO_GIT);
    return calls([delegation(intent.question, 'Review')], situation);
  }
  const next = changeCalls(intent.question, situation);
  if (next.length > 0 && situation.mayCall && situation.rounds.length < MAX_ROUNDS) {
    return calls(next, situation);
  }
  return answer(answerWithChanges(foundChanges(situation), gatherEvidence(situation)));
}

/**
 * What subagents are asked: each of several topics, or the one question whole, so that the search
 * stays out of the main context. A follow-up is not: they would not know what it points back to.
 */
function delegatedParts(
  { topics, question, outline, beyond }: Intent,
  { earlier }: Situation,
): readonly string[] {
  if (topics.length >= 2) return topics.slice(0, MAX_TOPICS);
  return earlier === '' && !outline && beyond === null ? [question] : [];
}

function searchCalls(
  intent: Intent,
  situation: Situation,
  evidence: Evidence,
): readonly PlannedCall[] {
  const { query } = intent;
  const has = (name: string) => called(situation, name);
  if (has('Read')) return [];
  const found = foundPlaces(situation);
  if (found !== null) return readPlaces(found);
  if (situation.tools.has(FIND_PLACES) && !has(FIND_PLACES)) return [placeSearch(intent)];
  if (!has('Grep') && (!has('Glob') || intent.directory !== null)) return surveyCalls(query);
  const ranked = rankFiles(query, evidence, intent);
  if (ranked.length === 0) return [];
  const canLocate = situation.tools.get('Grep')?.has('glob') === true && !located(situation);
  const locate = canLocate ? locateCalls(query, ranked, evidence) : [];
  return locate.length > 0 ? locate : readCalls(ranked, evidence);
}

function placeSearch({ question, query, wanted, earlier }: Intent): PlannedCall {
  return {
    name: FIND_PLACES,
    input: {
      question: earlier === '' ? question : `${question}\n${earlier}`,
      ...(wanted.size === 0 ? {} : { kinds: [...wanted] }),
      ...(query.paths.length === 0 ? {} : { paths: query.paths }),
    },
  };
}

/** What is cited is opened first: each place with what stands around it. */
function readPlaces(found: FoundPlaces): readonly PlannedCall[] {
  return tellingPlaces(found).map(({ path, line }) =>
    read(path, { offset: Math.max(1, (line ?? 1) - WINDOW_LEAD), limit: PLACE_WINDOW }),
  );
}

function surveyCalls(query: Query): readonly PlannedCall[] {
  const counts = query.terms.map((term) => grep({ pattern: term.pattern, output_mode: 'count' }));
  return [
    { name: 'Glob', input: { pattern: '**/*' } },
    ...nameSearch(query),
    ...counts,
    grep({ pattern: EVERY_LINE, output_mode: 'count' }),
    ...symbolSearch(query),
  ];
}

/** File names with a word of the question: in a large workspace the list of all files is cut. */
function nameSearch(query: Query): readonly PlannedCall[] {
  const stems = query.terms
    .filter((term) => term.kind === 'word' && term.weight >= 0.5)
    .flatMap((term) => term.stems.filter((stem) => /^\w{3,}$/.test(stem)).slice(0, 2));
  if (stems.length === 0) return [];
  const either = stems.map(
    (stem) => `[${stem.slice(0, 1)}${stem.slice(0, 1).toUpperCase()}]${stem.slice(1)}`,
  );
  const names = either.length === 1 ? either.join('') : `{${either.join(',')}}`;
  return [{ name: 'Glob', input: { pattern: `**/*${names}*` } }];
}

/** Names that hold two of the words, anywhere: rare enough to be listed whole. */
function symbolSearch(query: Query): readonly PlannedCall[] {
  const stems = query.terms
    .filter((term) => term.kind === 'word' && term.weight >= 0.5)
    .flatMap((term) => term.stems.slice(0, 1))
    .slice(0, PAIRED);
  const pairs = stems.flatMap((first) =>
    stems.filter((second) => second !== first).map((second) => compoundPattern(first, second)),
  );
  if (pairs.length === 0) return [];
  return [
    grep({ pattern: definitionPattern(pairs), output_mode: 'content', head_limit: LISTED_LINES }),
  ];
}

/** In the best files: how long they are, what they define, and lines where terms meet. */
function locateCalls(
  query: Query,
  ranked: readonly RankedFile[],
  evidence: Evidence,
): readonly PlannedCall[] {
  const patterns = query.terms.map((term) => term.pattern);
  if (patterns.length === 0) return [];
  const candidates = ranked.slice(0, CANDIDATES).map((file) => file.path);
  const unmeasured = candidates.filter((path) => !evidence.lineTotals.has(path));
  const close = globOf(candidates.slice(0, LOCATED));
  const any = anyOf(patterns);
  const content = { output_mode: 'content', head_limit: LISTED_LINES } as const;
  return [
    ...(unmeasured.length === 0
      ? []
      : [grep({ pattern: EVERY_LINE, output_mode: 'count', glob: globOf(unmeasured) })]),
    grep({ pattern: definitionPattern(patterns), glob: globOf(candidates), ...content }),
    grep({ pattern: patterns.length === 1 ? any : `${any}.*${any}`, glob: close, ...content }),
  ];
}

function readCalls(ranked: readonly RankedFile[], evidence: Evidence): readonly PlannedCall[] {
  return ranked.slice(0, OPENED).map(({ path }) => {
    const total = evidence.lineTotals.get(path);
    if (total !== undefined && total <= WINDOW) return read(path, {});
    const offset = windowStart(evidence.lines.get(path) ?? new Map());
    return read(path, { offset, limit: WINDOW });
  });
}

/** Where a window begins that holds the most of what was found, definitions counting more. */
function windowStart(lines: ReadonlyMap<number, string>): number {
  const found = [...lines]
    .map(([line, text]) => ({ line, worth: definedName(text) === null ? 1 : 3 }))
    .toSorted((a, b) => a.line - b.line);
  let best = { start: 1, worth: 0 };
  for (const { line: from } of found) {
    const start = Math.max(1, from - WINDOW_LEAD);
    const inside = found.filter(({ line }) => line >= from && line < start + WINDOW);
    const worth = inside.reduce((sum, { worth }) => sum + worth, 0);
    if (worth > best.worth) best = { start, worth };
  }
  return best.start;
}

function mayDelegate({ mayCall, tools }: Situation): boolean {
  return mayCall && tools.has('Task');
}

function called(situation: Situation, name: string): boolean {
  return situation.rounds.some((round) => round.some(({ call }) => call.name === name));
}

/** Whether lines of single files have been searched: those searches carry a glob. */
function located(situation: Situation): boolean {
  return situation.rounds.flat().some(({ call }) => {
    const { input } = call;
    return call.name === 'Grep' && typeof input === 'object' && input !== null && 'glob' in input;
  });
}

function grep(input: JsonObject): PlannedCall {
  return { name: 'Grep', input };
}

function read(path: string, range: JsonObject): PlannedCall {
  return { name: 'Read', input: { file_path: path, ...range } };
}

/** Arguments that the offered tool does not have are left out. */
function calls(planned: readonly PlannedCall[], situation: Situation): Step {
  return {
    type: 'calls',
    calls: planned.map(({ name, input }) => {
      const known = situation.tools.get(name) ?? new Set();
      if (known.size === 0) return { name, input };
      const entries = Object.entries(input).filter(([key]) => known.has(key));
      return { name, input: Object.fromEntries(entries) };
    }),
  };
}

function answer(text: string): Step {
  return { type: 'answer', text };
}
