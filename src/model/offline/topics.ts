import { hasSearchTerms, readQuery } from '../../base/code-search/query.ts';

/** The maximum number of topics that are delegated. The answer names the others. */
export const MAX_TOPICS = 8;

/**
 * The most characters of a question that is split. A longer text was passed along and is no list of questions.
 */
const MAX_SPLIT_CHARS = 1500;

const LIST_ITEM = /^\s*(?:[-*•]|\(?\d{1,2}[.)])\s+(.+)$/;
/** Matches the words between two questions, such as `…, and where is …`. */
const NEXT_QUESTION =
  /[,;]?\s+(?:and(?: also)?|also|as well as|then)\s+(?=(?:where|how|what|which|why|when|who|find|show|list|locate)\b)/i;
const QUESTION_WORD = /^(where|how|what|which|why|when|who|find|show|list|locate)\b/i;
/** Matches sentences that say how to answer, which are no topics. */
const INSTRUCTION =
  /^(?:please )?(?:answer|report|return|reply|respond|cite|quote|include|give|be (?:concise|thorough|brief)|keep|use|do not|don't|only|make sure|your task|you are)\b/i;
/** Matches the exact name of a thing in code, such as `readFile`. */
const NAMED = /^`[^`]+`$|^[\w$.]*(?:[a-z][A-Z]|_\w|\w\.\w)[\w$.]*(?:\(\))?$/;

/**
 * Splits a question into topics, each a question of its own: list items, several sentences that ask,
 * `… and where …`, or `where are A and B` with both named exactly. In doubt there is one topic.
 */
export function splitTopics(question: string): readonly string[] {
  if (question.length > MAX_SPLIT_CHARS) return [withoutInstructions(question)];
  const items = listItems(question);
  const topics = items.length >= 2 ? items : askedSentences(question).flatMap(splitSentence);
  const telling = topics.map((topic) => topic.trim()).filter(hasTerms);
  return telling.length >= 2 ? [...new Set(telling)] : [withoutInstructions(question)];
}

/** Removes the sentences that only say how to answer, unless the question has no others. */
export function withoutInstructions(question: string): string {
  const kept = sentences(question).filter((sentence) => !INSTRUCTION.test(sentence));
  const text = kept.join(' ');
  return hasTerms(text) ? text : question.trim();
}

function listItems(question: string): readonly string[] {
  return question.split('\n').flatMap((line) => {
    const item = LIST_ITEM.exec(line)?.[1];
    return item === undefined || INSTRUCTION.test(item) ? [] : [item];
  });
}

/** Returns the sentences that end in `?` if there are several; otherwise the question without instructions. */
function askedSentences(question: string): readonly string[] {
  const asked = sentences(question).filter((sentence) => sentence.endsWith('?'));
  if (asked.length >= 2) return asked;
  return [withoutInstructions(question)];
}

function splitSentence(sentence: string): readonly string[] {
  const parts = sentence.split(NEXT_QUESTION).filter(hasTerms);
  if (parts.length >= 2) return parts;
  return splitNames(sentence) ?? [sentence];
}

/** Splits `Where are A, B and C defined?` when each of them is named exactly. */
function splitNames(sentence: string): readonly string[] | null {
  const list = /^(.*?)((?:\S+, )*\S+),? and (\S+?)([?.!]?|\s.*)$/s.exec(sentence);
  if (list === null) return null;
  const [, before = '', first = '', last = '', after = ''] = list;
  const names = [...first.split(', '), last];
  if (!names.every((name) => NAMED.test(name))) return null;
  if (!QUESTION_WORD.test(before.trim())) return null;
  return names.map((name) => `${before}${name}${after}`);
}

function sentences(text: string): readonly string[] {
  return text
    .split(/(?<=[?!])\s+|(?<=[^.\d]\.)\s+(?=[A-Z`"'])|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

function hasTerms(text: string): boolean {
  return hasSearchTerms(readQuery(text));
}
