import {
  isSearchTerm,
  hasSearchTerms,
  readQuery,
  removePaths,
} from '../../base/code-search/query.ts';
import type { Situation } from './situation.ts';
import { splitTopics, removeInstructions } from './topics.ts';

/** The request in the newest message, as far as a search engine can understand it. */
export interface Intent {
  readonly question: string;
  /** The text to search for: the question and, if it refers to the question before, also that question. */
  readonly searchText: string;
  /** The separate questions that the message asks. */
  readonly topics: readonly string[];
  /** True if the question contains terms to search for. */
  readonly hasSearchTerms: boolean;
  /** The files to outline; empty if the question asks for a search. */
  readonly outlinedFiles: readonly string[];
  /** The directory to outline; `.` for the working directory; null: the question does not ask for such an outline. */
  readonly outlinedDirectory: string | null;
  /** The kind of work in the request that the search engine can't do; null: the request is a plain question. */
  readonly beyond: 'change' | 'judge' | 'diff' | null;
}

const POLITE =
  '(?:please |pls |can you |could you |would you |i want you to |i need you to |now |then )*';
const CHANGE = new RegExp(
  `^${POLITE}(?:fix|write|implement|add|refactor|create|build|make|rename|delete|remove|move|change|update|edit|modify|replace|run|execute|test|install|upgrade|migrate|convert|rewrite|port|optimi[sz]e|commit|generate|format|debug|improve|apply|revert|deploy)\\b`,
  'i',
);
const JUDGE = new RegExp(`^${POLITE}(?:review|audit|critique|assess|evaluate|rate)\\b`, 'i');
/** Matches questions about recent changes, which a search of the present files cannot answer. */
const DIFF: readonly RegExp[] = [
  /^(?:so |and )?what(?:'s| is| has| have| did| was| were)?(?: i| we| you)?(?: been)? (?:changed?|new|different|modified)\b[^?]{0,60}\??$/i,
  /^(?:please |can you |could you )*(?:show|list|review|summari[sz]e|describe|check|outline|audit|go over|look at)\b[^?]{0,60}\b(?:changes|diff|edits|modifications|commit)\b/i,
  /^git diff\b/i,
];
const OUTLINE =
  /\b(?:summari[sz]e|summary|outline|overview|what does|what(?: is|'s|’s) in|describe|explain)\b/i;
/** The maximum number of characters of a question that are read. A question may contain a pasted log or a piped file. */
const MAX_QUESTION_CHARS = 6000;
const MAX_OUTLINED_FILES = 5;
/** Matches questions that refer to the question before them. */
const REFERS_BACK =
  /^(?:and|but|so|also|what about|how about)\b|\b(?:it|that|this|they|them|there|those|these)\b/i;

const NAMES_DIRECTORY =
  /^(?:please |can you |could you )*(?:summari[sz]e|condense|outline|(?:give (?:me )?)?an? (?:overview|outline|summary) of|overview of)\s+(?:of )?(?:the )?(?:(?:directory|folder|package|module) )?[`"']?([\w@.~/-]+?)[`"']?\/?(?: (?:directory|folder|package|module))?[.!?]*$/i;
const WORKING_DIRECTORY =
  /^(?:\.|this|it|project|repository|repo|codebase|workspace|directory|folder|code|files)$/i;

/** Reads the request in the newest message. */
export function readIntent(situation: Situation): Intent {
  const message = situation.question.slice(0, MAX_QUESTION_CHARS);
  const question = removeInstructions(message);
  const earlier = refersBack(question)
    ? removeInstructions(situation.earlierQuestion.slice(0, MAX_QUESTION_CHARS))
    : '';
  const searchText = earlier === '' ? question : `${question}\n${earlier}`;
  const query = readQuery(searchText);
  const beyond = classifyBeyondSearch(question, situation.agentType.toLowerCase());
  const files = query.paths.filter((path) => /\.\w+$/.test(path)).slice(0, MAX_OUTLINED_FILES);
  const wantsOutline =
    situation.agentType.toLowerCase() === 'summary' ||
    beyond === 'judge' ||
    asksForOutline(question);
  return {
    question,
    searchText,
    topics: splitTopics(message),
    hasSearchTerms: hasSearchTerms(query),
    outlinedFiles: wantsOutline ? files : [],
    outlinedDirectory: files.length > 0 ? null : findOutlinedDirectory(question),
    beyond,
  };
}

/** Returns true for `What does a.ts do?`, and false for `Explain how a.ts retries`, which asks for a search. */
function asksForOutline(question: string): boolean {
  if (!OUTLINE.test(question)) return false;
  const rest = removePaths(question.replace(OUTLINE, ' '));
  return !readQuery(rest).terms.some(isSearchTerm);
}

function classifyBeyondSearch(question: string, agentType: string): Intent['beyond'] {
  if (DIFF.some((pattern) => pattern.test(question))) return 'diff';
  if (agentType === 'review' || JUDGE.test(question)) return 'judge';
  return CHANGE.test(question) ? 'change' : null;
}

/** Returns true if a question has at most two search terms and refers to something mentioned before. */
function refersBack(question: string): boolean {
  const terms = readQuery(question).terms.filter(isSearchTerm);
  return terms.length <= 2 && REFERS_BACK.test(question);
}

/** Finds the directory for which a question asks an outline; `.` for the working directory; null: there is no such directory. */
export function findOutlinedDirectory(question: string): string | null {
  const first = question.split('\n')[0] ?? '';
  const named = NAMES_DIRECTORY.exec(first.trim().replace(/\bthis (?=\w)/i, ''))?.[1];
  if (named === undefined || /\.\w+$/.test(named)) return null;
  return WORKING_DIRECTORY.test(named) ? '.' : named.replace(/^\.\//, '').replace(/\/$/, '');
}
