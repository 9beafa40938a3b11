import { parseLocations, formatRanking } from '../../base/code-search/format-ranking.ts';
import { CODE_SEARCH } from '../../protocol/tool-names.ts';
import { answerFromChildren, answerFromSearch, HELP, LIMITATIONS, NO_TOOLS } from './answer.ts';
import { readIntent, type Intent } from './intent.ts';
import { answerWithOutline, needsOutline, planOutlineCalls } from './outline.ts';
import { findOutcome, type PlannedCall, type Situation } from './situation.ts';
import { MAX_TOPICS } from './topics.ts';
import { readQuery } from '../../base/code-search/query.ts';
import { countTerms, rankLocations } from '../../base/code-search/rank.ts';
import { TermFinder } from '../../base/code-search/term-finder.ts';

/** The next message of the engine: tool calls, or the answer. */
export type OfflineStep =
  | { readonly type: 'calls'; readonly calls: readonly PlannedCall[] }
  | { readonly type: 'answer'; readonly text: string };

/** The maximum number of rounds of calls for one question. After them, the engine answers with what it has found. */
const MAX_ROUNDS = 6;
const MAX_CALLS = 25;
/** The maximum number of locations in an answer. */
const MAX_SHOWN_LOCATIONS = 3;
/** The number of lines that are read at each location. The first `LINES_BEFORE` of them are before the found line. */
const LINES_TO_READ = 80;
const LINES_BEFORE = 20;
const CHILD_INSTRUCTIONS =
  'Answer with the three best places as path:line, the line quoted, and one short reason each.';

/** Decides the next step, which depends only on the conversation: to delegate, to search, to read, or to answer. */
export function nextOfflineStep(situation: Situation): OfflineStep {
  const intent = readIntent(situation);
  const isFirst = situation.rounds.length === 0;
  const chosenAgents = intent.question === '' ? [] : situation.chosenAgents;
  if (chosenAgents.length > 0 && isFirst && canDelegate(situation)) {
    return toCallStep(
      chosenAgents.map((type) => planDelegation(intent.question, type)),
      situation,
    );
  }
  const merged = answerFromChildren(intent.topics, situation);
  if (merged !== null) return toAnswerStep(merged);
  if (intent.beyond === 'diff') return toAnswerStep(LIMITATIONS.diff);
  if (!intent.hasSearchTerms && intent.outlinedDirectory === null) return toAnswerStep(HELP);
  if (![CODE_SEARCH, 'Grep', 'Read'].some((name) => situation.tools.has(name))) {
    return toAnswerStep(NO_TOOLS);
  }
  const calls = situation.rounds.flat().length;
  if (situation.canCallTools && situation.rounds.length < MAX_ROUNDS && calls < MAX_CALLS) {
    const parts =
      isFirst && canDelegate(situation) ? chooseDelegatedQuestions(intent, situation) : [];
    const planned =
      parts.length > 0
        ? parts.map((part) => planDelegation(part, 'Explore'))
        : planNextCalls(intent, situation);
    const offered = planned.filter(({ name }) => situation.tools.has(name));
    if (offered.length > 0) return toCallStep(offered.slice(0, MAX_CALLS - calls), situation);
  }
  if (needsOutline(intent, situation)) return toAnswerStep(answerWithOutline(intent, situation));
  const report = findSearchReport(intent, situation);
  return toAnswerStep(
    report === null && isFirst ? NO_TOOLS : answerFromSearch(intent, situation, report),
  );
}

/**
 * Chooses the questions for subagents: each of several topics, or the single question, so that the search does not fill
 * the main context. A question after another question is not delegated, because the subagent would not know the earlier
 * question to which it may refer.
 */
function chooseDelegatedQuestions(
  intent: Intent,
  { earlierQuestion: earlier }: Situation,
): readonly string[] {
  if (intent.topics.length >= 2) return intent.topics.slice(0, MAX_TOPICS);
  const isOutline = intent.outlinedFiles.length > 0 || intent.outlinedDirectory !== null;
  return earlier === '' && !isOutline && intent.beyond === null ? [intent.question] : [];
}

function planNextCalls(intent: Intent, situation: Situation): readonly PlannedCall[] {
  if (needsOutline(intent, situation)) return planOutlineCalls(intent, situation);
  if (findOutcome(situation, 'Read') !== undefined) return [];
  const report = findSearchReport(intent, situation);
  if (report !== null) return parseLocations(report).map(({ path, line }) => planRead(path, line));
  if (situation.tools.has(CODE_SEARCH) && findOutcome(situation, CODE_SEARCH) === undefined) {
    const input = { question: intent.searchText, limit: MAX_SHOWN_LOCATIONS };
    return [{ name: CODE_SEARCH, input }];
  }
  return findOutcome(situation, 'Grep') === undefined ? planGrep(intent.searchText) : [];
}

/**
 * Finds the report of the search so far; null: no search has succeeded. If the search tool is not available, ranks the
 * lines that Grep found.
 */
function findSearchReport({ searchText }: Intent, situation: Situation): string | null {
  const search = findOutcome(situation, CODE_SEARCH)?.result;
  if (search?.isError === false) return search.text;
  const grep = findOutcome(situation, 'Grep')?.result;
  return grep?.isError === false
    ? rankFoundLines(grep.text, {
        question: searchText,
        cwd: situation.cwd,
        maxPlaces: MAX_SHOWN_LOCATIONS,
      })
    : null;
}

/** Plans the call that reads the code at a location. A model that continues the conversation then has this code. */
function planRead(path: string, line: number): PlannedCall {
  const offset = Math.max(1, line - LINES_BEFORE);
  return { name: 'Read', input: { file_path: path, offset, limit: LINES_TO_READ } };
}

function planDelegation(topic: string, type: string): PlannedCall {
  const words = topic
    .replace(/[^\p{L}\p{N}\s_.-]+/gu, ' ')
    .trim()
    .split(/\s+/);
  return {
    name: 'Task',
    input: {
      description: words.slice(0, 5).join(' '),
      prompt: `${topic}\n\n${CHILD_INSTRUCTIONS}`,
      subagent_type: type,
    },
  };
}

function canDelegate({ canCallTools: mayCall, tools }: Situation): boolean {
  return mayCall && tools.has('Task');
}

/** Creates a step from planned calls. Leaves out arguments that the tools of the request do not have. */
function toCallStep(planned: readonly PlannedCall[], { tools }: Situation): OfflineStep {
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

function toAnswerStep(text: string): OfflineStep {
  return { type: 'answer', text };
}

/** The number of lines that Grep is asked for, which is also the maximum that Grep returns. */
const MAX_LINES = 1000;
const MAX_LINE_NUMBER = 60_000;

/** Plans the Grep call for the lines with terms of a question; empty: the question has no search terms. */
function planGrep(question: string): readonly PlannedCall[] {
  const { pattern } = new TermFinder(readQuery(question).terms);
  if (pattern === null) return [];
  const input = { pattern, output_mode: 'content', ignore_case: true, head_limit: MAX_LINES };
  return [{ name: 'Grep', input }];
}

/** Ranks the lines that Grep found, as if the files had no other lines, and describes the best locations. */
function rankFoundLines(
  found: string,
  options: { readonly question: string; readonly cwd: string; readonly maxPlaces: number },
): string {
  const query = readQuery(options.question);
  const finder = new TermFinder(query.terms);
  const texts = collectTextsByPath(found, options.cwd);
  const files = [...texts].map(([path, text]) => countTerms(path, text, finder));
  const ranking = rankLocations(query, finder, {
    files,
    readText: (path) => texts.get(path) ?? null,
  });
  const report = formatRanking(ranking, { maxPlaces: options.maxPlaces, show: (path) => path });
  return `${report}\n\nFindPlaces was not available: only the lines that Grep returned were ranked.`;
}

/** Collects the text of each file by path. Lines that Grep did not return are empty. */
function collectTextsByPath(found: string, cwd: string): ReadonlyMap<string, string> {
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
