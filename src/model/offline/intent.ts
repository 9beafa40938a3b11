import type { FileKind } from '../../base/code/file-kind.ts';
import { askedKinds } from './asked-kinds.ts';
import { asksForChanges } from './changes-plan.ts';
import { outlinedDirectory } from './outline-plan.ts';
import type { Situation } from './situation.ts';
import { isTelling, readQuery, withEarlier, withoutPaths, type Query } from './terms.ts';
import { splitTopics, withoutInstructions } from './topics.ts';

/** What the newest message wants, as far as a search engine can tell. */
export interface Intent {
  readonly question: string;
  /** The question before, where this one points back to it; else empty. */
  readonly earlier: string;
  readonly topics: readonly string[];
  readonly query: Query;
  /** Kinds of files that are asked for by name. */
  readonly wanted: ReadonlySet<FileKind>;
  /** A named file is to be outlined rather than something found. */
  readonly outline: boolean;
  /** A directory that is to be outlined, `.` for all of it; null: named files are. */
  readonly directory: string | null;
  /** What changed is asked for: git tells, no search. */
  readonly changes: boolean;
  /** What is asked for and cannot be done without a model; null for a plain question. */
  readonly beyond: 'change' | 'judge' | null;
}

const POLITE =
  '(?:please |pls |can you |could you |would you |i want you to |i need you to |now |then )*';
const CHANGE = new RegExp(
  `^${POLITE}(?:fix|write|implement|add|refactor|create|build|make|rename|delete|remove|move|change|update|edit|modify|replace|run|execute|test|install|upgrade|migrate|convert|rewrite|port|optimi[sz]e|commit|generate|format|debug|improve|apply|revert|deploy)\\b`,
  'i',
);
const JUDGE = new RegExp(`^${POLITE}(?:review|audit|critique|assess|evaluate|rate)\\b`, 'i');
const OUTLINE =
  /\b(?:summari[sz]e|summary|outline|overview|what does|what(?: is|'s|’s) in|describe|explain)\b/i;
/** A longer question (a pasted log, a piped file) is read up to here. */
const MAX_QUESTION_CHARS = 6000;

/** A question that says nothing new but points back. */
const POINTS_BACK =
  /^(?:and|but|so|also|what about|how about)\b|\b(?:it|that|this|they|them|there|those|these)\b/i;

export function readIntent(situation: Situation): Intent {
  const asked = situation.question.slice(0, MAX_QUESTION_CHARS);
  const question = withoutInstructions(asked);
  const type = situation.agentType.toLowerCase();
  const earlier = pointsBack(question)
    ? withoutInstructions(situation.earlier.slice(0, MAX_QUESTION_CHARS))
    : '';
  const asks = readQuery(question);
  const query = earlier === '' ? asks : withEarlier(asks, readQuery(earlier));
  const beyond = beyondSearch(question, type);
  const wantsOutline = type === 'summary' || beyond === 'judge' || asksForOutline(question);
  const namesFile = query.paths.some((path) => /\.\w+$/.test(path));
  const directory = namesFile ? null : outlinedDirectory(question);
  return {
    question,
    earlier,
    topics: splitTopics(asked),
    query,
    wanted: askedKinds(question, query.paths),
    outline: (namesFile && wantsOutline) || directory !== null,
    directory,
    changes: asksForChanges(question) || (type === 'review' && !namesFile),
    beyond,
  };
}

/** `What does a.ts do?`, but not `Explain how a.ts retries`: that is a search. */
function asksForOutline(question: string): boolean {
  if (!OUTLINE.test(question)) return false;
  const rest = withoutPaths(question.replace(OUTLINE, ' '));
  return !readQuery(rest).terms.some(isTelling);
}

function beyondSearch(question: string, type: string): Intent['beyond'] {
  if (type === 'review' || JUDGE.test(question)) return 'judge';
  return CHANGE.test(question) ? 'change' : null;
}

/** It says little itself, and of something that was spoken of. */
function pointsBack(question: string): boolean {
  return readQuery(question).terms.filter(isTelling).length <= 2 && POINTS_BACK.test(question);
}
