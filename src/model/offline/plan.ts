import { parseLocations, formatRanking } from '../../base/code-search/format-ranking.ts';
import { CODE_SEARCH } from '../../protocol/tool-names.ts';
import { answerFromChildren, answerFromSearch, HELP, LIMITATIONS, NO_TOOLS } from './answer.ts';
import { readIntent, type Intent } from './intent.ts';
import { answerWithOutline, isOutlined, outlineCalls } from './outline.ts';
import { findOutcome, type PlannedCall, type Situation } from './situation.ts';
import { MAX_TOPICS } from './topics.ts';
import { readQuery } from '../../base/code-search/query.ts';
import { countTerms, rankLocations } from '../../base/code-search/rank.ts';
import { TermFinder } from '../../base/code-search/term-finder.ts';

/** The engine's next message: tool calls, or its answer. */
export type OfflineStep =
  | { readonly type: 'calls'; readonly calls: readonly PlannedCall[] }
  | { readonly type: 'answer'; readonly text: string };

/** The maximum number of rounds of calls for one question. After them the engine answers with what it has found. */
const MAX_ROUNDS = 6;
const MAX_CALLS = 25;
/** The number of locations that an answer shows. */
const SHOWN_PLACES = 3;
/** The number of lines that are read around each location. `LINES_BEFORE` of them are before its line. */
const READ_LINES = 80;
const LINES_BEFORE = 20;
const CHILD_FORM =
  'Answer with the three best places as path:line, the line quoted, and one short reason each.';

/** Decides the next step from nothing but the conversation: delegate, or search, read and answer. */
export function nextOfflineStep(situation: Situation): OfflineStep {
  const intent = readIntent(situation);
  const isFirst = situation.rounds.length === 0;
  const chosen = intent.question === '' ? [] : situation.chosen;
  if (chosen.length > 0 && isFirst && mayDelegate(situation)) {
    return callsOf(
      chosen.map((type) => delegation(intent.question, type)),
      situation,
    );
  }
  const merged = answerFromChildren(intent.topics, situation);
  if (merged !== null) return answer(merged);
  if (intent.beyond === 'diff') return answer(LIMITATIONS.diff);
  if (!intent.hasSearchTerms && intent.outlinedDirectory === null) return answer(HELP);
  if (![CODE_SEARCH, 'Grep', 'Read'].some((name) => situation.tools.has(name))) {
    return answer(NO_TOOLS);
  }
  const calls = situation.rounds.flat().length;
  if (situation.mayCall && situation.rounds.length < MAX_ROUNDS && calls < MAX_CALLS) {
    const parts = isFirst && mayDelegate(situation) ? delegatedParts(intent, situation) : [];
    const planned =
      parts.length > 0
        ? parts.map((part) => delegation(part, 'Explore'))
        : nextCalls(intent, situation);
    const offered = planned.filter(({ name }) => situation.tools.has(name));
    if (offered.length > 0) return callsOf(offered.slice(0, MAX_CALLS - calls), situation);
  }
  if (isOutlined(intent, situation)) return answer(answerWithOutline(intent, situation));
  const report = searchReport(intent, situation);
  return answer(
    report === null && isFirst ? NO_TOOLS : answerFromSearch(intent, situation, report),
  );
}

/**
 * The questions for subagents: each of several topics, or the one question, so that the search stays out of
 * the main context. A follow-up is not delegated, because a subagent would not know what it points back to.
 */
function delegatedParts(intent: Intent, { earlier }: Situation): readonly string[] {
  if (intent.topics.length >= 2) return intent.topics.slice(0, MAX_TOPICS);
  const isOutline = intent.outlinedFiles.length > 0 || intent.outlinedDirectory !== null;
  return earlier === '' && !isOutline && intent.beyond === null ? [intent.question] : [];
}

function nextCalls(intent: Intent, situation: Situation): readonly PlannedCall[] {
  if (isOutlined(intent, situation)) return outlineCalls(intent, situation);
  if (findOutcome(situation, 'Read') !== undefined) return [];
  const report = searchReport(intent, situation);
  if (report !== null)
    return parseLocations(report).map(({ path, line }) => readAround(path, line));
  if (situation.tools.has(CODE_SEARCH) && findOutcome(situation, CODE_SEARCH) === undefined) {
    const input = { question: intent.searchText, limit: SHOWN_PLACES };
    return [{ name: CODE_SEARCH, input }];
  }
  return findOutcome(situation, 'Grep') === undefined ? grepCall(intent.searchText) : [];
}

/**
 * Returns the report of the search so far; null if no search has succeeded. Without the search tool, the lines
 * that Grep found are ranked.
 */
function searchReport({ searchText }: Intent, situation: Situation): string | null {
  const found = findOutcome(situation, CODE_SEARCH)?.result;
  if (found?.isError === false) return found.text;
  const lines = findOutcome(situation, 'Grep')?.result;
  return lines?.isError === false
    ? rankFoundLines(lines.text, {
        question: searchText,
        cwd: situation.cwd,
        maxPlaces: SHOWN_PLACES,
      })
    : null;
}

/** Plans the call that opens a location before it is cited, so that a model that takes over has its code. */
function readAround(path: string, line: number): PlannedCall {
  const offset = Math.max(1, line - LINES_BEFORE);
  return { name: 'Read', input: { file_path: path, offset, limit: READ_LINES } };
}

function delegation(topic: string, type: string): PlannedCall {
  const words = topic
    .replace(/[^\p{L}\p{N}\s_.-]+/gu, ' ')
    .trim()
    .split(/\s+/);
  return {
    name: 'Task',
    input: {
      description: words.slice(0, 5).join(' '),
      prompt: `${topic}\n\n${CHILD_FORM}`,
      subagent_type: type,
    },
  };
}

function mayDelegate({ mayCall, tools }: Situation): boolean {
  return mayCall && tools.has('Task');
}

/** Leaves out arguments that the offered tool does not have. */
function callsOf(planned: readonly PlannedCall[], { tools }: Situation): OfflineStep {
  return {
    type: 'calls',
    calls: planned.map(({ name, input }) => {
      const known = tools.get(name) ?? new Set();
      if (known.size === 0) return { name, input };
      const entries = Object.entries(input).filter(([key]) => known.has(key));
      return { name, input: Object.fromEntries(entries) };
    }),
  };
}

function answer(text: string): OfflineStep {
  return { type: 'answer', text };
}

/** The number of lines that Grep is asked for, which is the most that it returns. */
const MAX_LINES = 1000;
const MAX_LINE_NUMBER = 60_000;

/** Plans the Grep call that finds the lines with words of a question; empty if the question has none. */
function grepCall(question: string): readonly PlannedCall[] {
  const { pattern } = new TermFinder(readQuery(question).terms);
  if (pattern === null) return [];
  const input = { pattern, output_mode: 'content', ignore_case: true, head_limit: MAX_LINES };
  return [{ name: 'Grep', input }];
}

/** Ranks the lines that Grep found, as if its files had no others, and describes the best places. */
function rankFoundLines(
  found: string,
  options: { readonly question: string; readonly cwd: string; readonly maxPlaces: number },
): string {
  const query = readQuery(options.question);
  const finder = new TermFinder(query.terms);
  const texts = textsByPath(found, options.cwd);
  const files = [...texts].map(([path, text]) => countTerms(path, text, finder));
  const ranking = rankLocations(query, finder, {
    files,
    readText: (path) => texts.get(path) ?? null,
  });
  const report = formatRanking(ranking, { maxPlaces: options.maxPlaces, show: (path) => path });
  return `${report}\n\nFindPlaces was not available: only the lines that Grep returned were ranked.`;
}

/** Returns the text of each file by path, in which the lines that Grep did not return are empty. */
function textsByPath(found: string, cwd: string): ReadonlyMap<string, string> {
  const files = new Map<string, string[]>();
  for (const each of found.split('\n')) {
    const [, shown, number, text = ''] = /^([^[].*?):(\d{1,9}):(.*)$/.exec(each) ?? [];
    if (shown === undefined || /\p{Cc}/u.test(shown) || Number(number) > MAX_LINE_NUMBER) continue;
    const path = shown.startsWith(`${cwd}/`) ? shown.slice(cwd.length + 1) : shown;
    const lines = files.get(path) ?? [];
    lines[Number(number) - 1] = text;
    files.set(path, lines);
  }
  return new Map(
    [...files].map(([path, lines]) => [path, Array.from(lines, (line) => line ?? '').join('\n')]),
  );
}
