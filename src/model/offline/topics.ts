import { isTelling, readQuery } from './terms.ts';

/** More topics than this are not delegated one by one: the answer says which were left out. */
export const MAX_TOPICS = 8;

/** What is longer is a text that was passed along rather than a list of questions. */
const MAX_SPLIT_CHARS = 1500;

const LIST_ITEM = /^\s*(?:[-*•]|\(?\d{1,2}[.)])\s+(.+)$/;
/** `…, and where is …`: a second question behind the first. */
const NEXT_QUESTION =
  /[,;]?\s+(?:and(?: also)?|also|as well as|then)\s+(?=(?:where|how|what|which|why|when|who|find|show|list|locate)\b)/i;
const QUESTION_WORD = /^(where|how|what|which|why|when|who|find|show|list|locate)\b/i;
/** How to answer, which is no topic. */
const INSTRUCTION =
  /^(?:please )?(?:answer|report|return|reply|respond|cite|quote|include|give|be (?:concise|thorough|brief)|keep|use|do not|don't|only|make sure|your task|you are)\b/i;
/** Two things that are named exactly: `readFile` and `writeFile`. */
const NAMED = /^`[^`]+`$|^[\w$.]*(?:[a-z][A-Z]|_\w|\w\.\w)[\w$.]*(?:\(\))?$/;

/**
 * A question as its topics, each a question of its own. Conservative: where it is not plain that
 * there are several, there is one. Sources: list items, several question sentences, `and where…`,
 * `where are A and B` with both named exactly.
 */
export function splitTopics(question: string): readonly string[] {
  if (question.length > MAX_SPLIT_CHARS) return [withoutInstructions(question)];
  const items = listItems(question);
  const topics = items.length >= 2 ? items : askedSentences(question).flatMap(splitSentence);
  const telling = topics.map((topic) => topic.trim()).filter(hasTerms);
  return telling.length >= 2 ? [...new Set(telling)] : [withoutInstructions(question)];
}

/** The question less the sentences that only say how to answer, unless nothing else is there. */
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

/** Several questions are those that end in `?`; what stands around them belongs to none. */
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

/** `Where are A, B and C defined?` → one question for each, when each is named exactly. */
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
  const { terms, paths } = readQuery(text);
  return paths.length > 0 || terms.some(isTelling);
}
