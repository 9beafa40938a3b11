import { hasSearchTerms, readQuery } from '../../base/code-search/query.ts';

/** The maximum number of topics that are delegated. The answer lists the remaining topics. */
export const MAX_TOPICS = 8;

/**
 * The maximum length of a question that is split. A longer text is quoted material and not a list of questions.
 */
const MAX_SPLIT_CHARS = 1500;

const LIST_ITEM = /^\s*(?:[-*•]|\(?\d{1,2}[.)])\s+(.+)$/;
/** Matches the words between two questions, such as `…, and where is …`. */
const NEXT_QUESTION =
  /[,;]?\s+(?:and(?: also)?|also|as well as|then)\s+(?=(?:where|how|what|which|why|when|who|find|show|list|locate)\b)/i;
const QUESTION_WORD = /^(where|how|what|which|why|when|who|find|show|list|locate)\b/i;
/** Matches sentences that say how to answer. They are not topics. */
const INSTRUCTION =
  /^(?:please )?(?:answer|report|return|reply|respond|cite|quote|include|give|be (?:concise|thorough|brief)|keep|use|do not|don't|only|make sure|your task|you are)\b/i;
/** Matches the exact name of something in code, such as `readFile`. */
const NAMED = /^`[^`]+`$|^[\w$.]*(?:[a-z][A-Z]|_\w|\w\.\w)[\w$.]*(?:\(\))?$/;

/**
 * Splits a question into topics, which can be answered separately: the items of a list, several questions, the parts of
 * `… and where …`, or the names in `where are A and B` if both are exact names. In case of doubt there is one topic.
 */
export function splitTopics(question: string): readonly string[] {
  if (question.length > MAX_SPLIT_CHARS) return [removeInstructions(question)];
  const items = findListItems(question);
  const topics = items.length >= 2 ? items : findQuestionSentences(question).flatMap(splitSentence);
  const searchable = topics.map((topic) => topic.trim()).filter(hasTerms);
  return searchable.length >= 2 ? [...new Set(searchable)] : [removeInstructions(question)];
}

/** Removes the sentences that only say how to answer. Returns the full question if no searchable text remains. */
export function removeInstructions(question: string): string {
  const remaining = splitSentences(question).filter((sentence) => !INSTRUCTION.test(sentence));
  const text = remaining.join(' ');
  return hasTerms(text) ? text : question.trim();
}

function findListItems(question: string): readonly string[] {
  return question.split('\n').flatMap((line) => {
    const item = LIST_ITEM.exec(line)?.[1];
    return item === undefined || INSTRUCTION.test(item) ? [] : [item];
  });
}

/** Finds the sentences that end in `?`. If there are fewer than two, returns the question without instructions. */
function findQuestionSentences(question: string): readonly string[] {
  const questions = splitSentences(question).filter((sentence) => sentence.endsWith('?'));
  if (questions.length >= 2) return questions;
  return [removeInstructions(question)];
}

function splitSentence(sentence: string): readonly string[] {
  const parts = sentence.split(NEXT_QUESTION).filter(hasTerms);
  if (parts.length >= 2) return parts;
  return splitNames(sentence) ?? [sentence];
}

/** Splits `Where are A, B and C defined?` into three questions if each of the names is exact; null: it can't be split. */
function splitNames(sentence: string): readonly string[] | null {
  const list = /^(.*?)((?:\S+, )*\S+),? and (\S+?)([?.!]?|\s.*)$/s.exec(sentence);
  if (list === null) return null;
  const [, before = '', first = '', last = '', after = ''] = list;
  const names = [...first.split(', '), last];
  if (!names.every((name) => NAMED.test(name))) return null;
  if (!QUESTION_WORD.test(before.trim())) return null;
  return names.map((name) => `${before}${name}${after}`);
}

function splitSentences(text: string): readonly string[] {
  return text
    .split(/(?<=[?!])\s+|(?<=[^.\d]\.)\s+(?=[A-Z`"'])|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

function hasTerms(text: string): boolean {
  return hasSearchTerms(readQuery(text));
}
