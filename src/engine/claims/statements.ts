import { blocksOf } from './blocks.ts';
import { isCommandLike, isProgram, isTool } from './check-kinds.ts';
import { fileNamed } from './file-names.ts';
import { inMarkdown } from './json-report.ts';

/** A sentence, or the beginning of a list item or table row. */
export interface Statement {
  /** As it stands in the answer. */
  readonly said: string;
  /** In lower case; files stand in it as `‹f0›`, commands as `‹c0›`, other code as `‹x›`, quotes as `‹q›`. */
  readonly text: string;
  readonly files: readonly string[];
  readonly commands: readonly string[];
  /** The heading and the line that it stands under, in lower case. */
  readonly under: string;
  /** Number of the list or table that it begins an item of; null: it begins none. */
  readonly list: number | null;
}

/** UTF-16 units of an answer that are looked into: so much of its start, and of its end. */
const LOOKED_INTO = 40_000;
const LONGEST_STATEMENT = 700;
const MOST_BLOCKS = 2_500;
const SENTENCE =
  /(?<=(?<!\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|\d))[.!?][*_)"”]*)\s+|\s+(?=\(?\d\)\s)/;

/** The statements of an answer, in order. `programs`: those that ran, whose names are known then. */
export function statementsOf(answer: string, programs: ReadonlySet<string>): readonly Statement[] {
  const isLong = answer.length > 2 * LOOKED_INTO;
  const text = isLong
    ? `${answer.slice(0, LOOKED_INTO)}\n\n${answer.slice(-LOOKED_INTO)}`
    : inMarkdown(answer);
  const blocks = blocksOf(text).slice(0, MOST_BLOCKS);
  return blocks.flatMap((block) => {
    const under = block.under.replace(CODE, '‹x›').replace(MARKUP, '').toLowerCase();
    return sentencesOf(block.text).map((said, at) =>
      statementOf(said, { under, list: at === 0 ? block.list : null, programs }),
    );
  });
}

function sentencesOf(text: string): readonly string[] {
  const sentences: string[] = [];
  for (const part of text.split(SENTENCE)) {
    const last = sentences.at(-1);
    // A full stop within code ends nothing.
    if (last !== undefined && last.length < LONGEST_STATEMENT && last.split('`').length % 2 === 0)
      sentences[sentences.length - 1] = `${last} ${part}`;
    else sentences.push(part);
  }
  return sentences
    .map((said) => said.slice(0, LONGEST_STATEMENT).trim())
    .filter((said) => said !== '');
}

const LINK = /\[([^\]\n]{1,200})\]\([^)\n]{1,300}\)/g;
const CODE = /`+([^`]{1,300})`+/g;
const QUOTE = /"[^"]{1,300}"|“[^”]{1,300}”/g;
const GOOD_NEWS =
  /\b(?:success\w*|pass(?:ed|es)?|ok|(?:0|no) (?:errors|issues|problems|warnings|failures))\b/i;
const MARKUP = /\*{1,3}|~~|(?<=^|\s)_{1,2}(?=\S)|(?<=\S)_{1,2}(?=$|[\s.,;:!?])|<\/?[a-z]{1,10}>/g;
const CHECK_MARK = /[✅✔☑🎉✓🟢💚👍🚀✨]\ufe0f?/gu;
/** A command outside of code, of a program whose name is no word of English. */
const PLAIN_COMMAND =
  /(?<![\w/.-])(?:npm|pnpm|yarn|npx|cargo|mvn|gradle|\.\/gradlew|terraform|dotnet|docker(?: compose(?= (?:up|down|build|run|exec|pull|restart)\b))?|kubectl|helm|composer|poetry|dbt|mix|swift|flutter|bundle exec|go(?= (?:test|vet|build)\b)|make(?= (?:test|check|lint|build)\b(?! \w)))(?: -\S+)* [a-z][\w-]*(?::[\w-]+)*/g;
const WORD = /[^\s,;‹›()"'“”*]+/g;
const KIND_OF_TROUBLE = /\b(?:type|lint|tests?|build|compile)/;
/** Good news in the words of a negation, that would be read as one. */
const NO_TROUBLE =
  /\b(?:no|zero|0|without|nor|not a single|free of|none)(?: (?:a|an|any|of|the|single|new|more|other|further|remaining|type|lint|linter|tests?|compile|compiler|build|typescript|unexpected))*(?: (?!longer\b|[a-z]+ing\b|(?:errors?|failed|failing|fail)\b)[a-z]+(?:-[a-z]+)?)?(?:,? (?:errors?|warnings?|failures?|failed|failing|fail|issues?|problems?|regressions?|complaints?|violations?|findings|vulnerabilit(?:y|ies)|leaks?|races?|conflicts?)(?:,? (?:and|or|nor|no|0|\/) ?)?)+/g;

const FREE_OF = /\b(?:warning|error|issue|failure|leak|(lint|type))s?-free\b/g;

type Place = Pick<Statement, 'under' | 'list'> & { readonly programs: ReadonlySet<string> };

function statementOf(said: string, { under, list, programs }: Place): Statement {
  const files: string[] = [];
  const commands: string[] = [];
  const placeholder = (code: string): string | null => {
    const file = fileNamed(code);
    if (file !== null) return `‹f${files.push(file) - 1}›`;
    return isCommand(code, programs) ? `‹c${commands.push(code) - 1}›` : null;
  };
  const text = said
    .replace(/[‹›]/g, "'")
    .replace(LINK, '$1')
    .replace(CODE, (_, code: string) => placeholder(code.trim()) ?? '‹x›')
    .replace(QUOTE, (quote) => (GOOD_NEWS.test(quote) ? ' ✓ ' : '‹q›'))
    .replace(MARKUP, '')
    .replace(CHECK_MARK, ' ✓ ')
    .replace(/^\[[xX]\] /, '✓ ')
    .replace(/^\(?\d[.)] /, '')
    .replace(PLAIN_COMMAND, (line) => placeholder(line) ?? line)
    .replace(WORD, (word) => plainFile(word, placeholder))
    .replace(/’/g, "'")
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase()
    .replace(FREE_OF, ' $1 troublefree ')
    .replace(NO_TROUBLE, (trouble) => `${KIND_OF_TROUBLE.exec(trouble)?.[0] ?? ''} troublefree `)
    .replace(/\bno longer\b/g, 'now')
    .replace(/  +/g, ' ');
  return { said, text, files, commands, under, list };
}

function isCommand(code: string, programs: ReadonlySet<string>): boolean {
  const words = code.split(/\s+/, 4).filter((word) => !/^(?:\$|\w+=\S*|sudo|time|env)$/.test(word));
  return (
    /^[\w@./-]+$/.test(words[0] ?? '') &&
    (isProgram(words[0] ?? '') ||
      (words.length > 1 && (programs.has(words[0] ?? '') || isCommandLike(words)))) &&
    !/[;(]\)?$/.test(code)
  );
}

/** A file outside of code may be followed by a full stop. */
function plainFile(word: string, placeholder: (word: string) => string | null): string {
  const plain = word.replace(/[.:!?]+$/, '');
  if (isTool(plain.toLowerCase()))
    return `${placeholder(plain.toLowerCase()) ?? plain}${word.slice(plain.length)}`;
  if (!/[./]|^[A-Z]\w{4,}$/.test(plain) || /^(?:https?:|www\.)|@/.test(word)) return word;
  return fileNamed(plain) === null
    ? word
    : `${placeholder(plain) ?? plain}${word.slice(plain.length)}`;
}
