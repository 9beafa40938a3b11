import { lazy } from '../../base/lazy.ts';
import { listNames } from '../../base/text.ts';
import { CALL_FORMS, CALL_WRAPPERS, type CallForm } from './forms.ts';
import { matches, skipSpace } from './json-calls.ts';
import { canonicalToolName } from '../tool-aliases.ts';

/** A call in the text of an answer. */
export interface TextCall {
  /** The canonical name of the tool. */
  readonly tool: string;
  readonly form: CallForm;
}

interface CallRun {
  /** The index behind it. */
  readonly end: number;
  /** The first call of one of the tools. */
  readonly call: TextCall | null;
}

interface Search {
  readonly tools: readonly string[];
  /** The number of further beginnings of calls that may be wrong. Each may have been read to the end of the text. */
  triesLeft: number;
}

/** The maximum length of a text that is searched. Longer texts count as answers. */
const MAX_LENGTH = 1_000_000;
/** The maximum number of characters that are read after wrong beginnings of calls. */
const MAX_READ_IN_VAIN = 8_000_000;
const MIN_TRIES = 8;

/** Tokens for the end of a message, which servers that do not know the model pass on as text. */
const END_TOKENS = listNames(`
  <|im_end|> <|eot_id|> <|eom_id|> <|endoftext|> <|end_of_text|> <|call|> <|end|> <|return|>
  <|observation|> <|user|> <｜end▁of▁sentence｜> <end_of_turn> <turn|> [e~[ </s>
`);
/** The characters with which a call can end. */
const LAST_CHARACTERS: ReadonlySet<string> = new Set(['>', '}', ']', ')', '`']);

const FENCE = /^ {0,3}(?<mark>`{3,}|~{3,})(?<label>[^\n]*)/my;
const THOUGHT_END = /<\/think(?:ing)?>/y;
/** The expressions are created when an answer looks like a call, so that a start does not pay for them. */
const patterns = lazy(() => {
  const anyForm = CALL_FORMS.map(({ begin }) => begin.replaceAll('(?<name>', '(?:')).join('|');
  const wrapper = CALL_WRAPPERS.join('|');
  return {
    forms: CALL_FORMS.map((form) => ({ form, begin: new RegExp(form.begin, 'my') })),
    anyForm: new RegExp(anyForm, 'my'),
    betweenCalls: new RegExp(`[\\s,;]+|${wrapper}`, 'y'),
    /** Matches where a code block, the end of a thought or a call may begin. */
    place: new RegExp(`^ {0,3}(?=\`{3}|~{3})|${THOUGHT_END.source}|${wrapper}|${anyForm}`, 'gm'),
  };
});
/** A line that quotes, or a line of an indented code block. */
const QUOTING_LENGTH = 5;
const QUOTING = /^(?: {4}| {0,3}(?:\t|>))/;
const KIMI_INDEX = /:\d{1,4}$/;
const NAMESPACE = /^(?:functions|default_api|tools)[.:]/;

/**
 * Finds the call of one of these tools (canonical names) with which the text of an answer ends; null if there is
 * none. Text that only shows or explains a call does not count: it continues after the call, has the call in a
 * code block, in a quoted line or in quotation marks, leaves it open, or names another tool.
 */
export function findTextCall(text: string, tools: readonly string[]): TextCall | null {
  const answer = withoutEndTokens(text);
  if (answer.length > MAX_LENGTH || !LAST_CHARACTERS.has(answer.slice(-1))) return null;
  const search: Search = {
    tools,
    triesLeft: Math.max(MIN_TRIES, MAX_READ_IN_VAIN / answer.length),
  };
  const lineStart = lineStarts(answer);
  /** The mark that began the present code block. */
  let block: string | null = null;
  let firstCharacter = 0;
  const { place } = patterns();
  place.lastIndex = 0;
  for (let found = place.exec(answer); found !== null; found = place.exec(answer)) {
    const at = found.index;
    place.lastIndex = at + 1;
    if (matches(THOUGHT_END, answer, at)) {
      block = null;
      firstCharacter = skipSpace(answer, THOUGHT_END.lastIndex);
      continue;
    }
    const fence = fenceAt(answer, at);
    if (block !== null) {
      if (fence !== null && closes(fence, block)) block = null;
      continue;
    }
    const start = lineStart(at);
    if (QUOTING.test(answer.slice(start, Math.min(start + QUOTING_LENGTH, at)))) continue;
    const run = readCalls(answer, at, search, at <= firstCharacter ? 'whole' : 'last');
    if (run.end === answer.length && run.call !== null) return run.call;
    if (search.triesLeft < 0) return null;
    place.lastIndex = Math.max(run.end, at + 1);
    if (run.end === at && fence !== null) block = fence.mark;
  }
  return null;
}

/** Reads the calls at `start`, one after the other, with the text around and between them. */
function readCalls(text: string, start: number, search: Search, part: 'whole' | 'last'): CallRun {
  let call: TextCall | null = null;
  for (let end = start; ;) {
    const read = readCall(text, end, search, part);
    if (read === null) {
      const next = skipBetweenCalls(text, end);
      if (next === end) return { end, call };
      end = next;
      continue;
    }
    const tool = read.names.map(plainName).find((name) => search.tools.includes(name));
    if (call === null && tool !== undefined) call = { tool, form: read.form };
    end = read.end;
  }
}

function readCall(text: string, at: number, search: Search, part: 'whole' | 'last') {
  const { anyForm, forms } = patterns();
  if (!matches(anyForm, text, at)) return null;
  for (const { form, begin } of forms) {
    if (form.isWholeAnswer === true && part !== 'whole') continue;
    begin.lastIndex = at;
    const found = begin.exec(text);
    if (found === null) continue;
    const calls = form.read(text, begin.lastIndex, found.groups?.['name'] ?? '');
    if (calls !== null) return { ...calls, form };
    search.triesLeft -= 1;
  }
  return null;
}

function plainName(written: string): string {
  const name = written.replace(KIMI_INDEX, '').replace(NAMESPACE, '');
  return canonicalToolName(name) ?? name;
}

function skipBetweenCalls(text: string, start: number): number {
  const { betweenCalls } = patterns();
  let at = start;
  while (at < text.length && matches(betweenCalls, text, at)) at = betweenCalls.lastIndex;
  return at;
}

function withoutEndTokens(text: string): string {
  let answer = text.trim();
  for (;;) {
    const token = END_TOKENS.find((each) => answer.endsWith(each));
    if (token === undefined) return answer;
    answer = answer.slice(0, -token.length).trimEnd();
  }
}

interface Fence {
  readonly mark: string;
  readonly label: string;
}

/** Returns the fence of a code block at `at`, or null. The label of a fence of backticks holds none. */
function fenceAt(text: string, at: number): Fence | null {
  FENCE.lastIndex = at;
  const { mark = '', label = '' } = FENCE.exec(text)?.groups ?? {};
  return mark === '' || (mark.startsWith('`') && label.includes('`')) ? null : { mark, label };
}

function closes({ mark, label }: Fence, block: string): boolean {
  return mark.startsWith(block) && label.trim() === '';
}

/** Returns a function that gives the start of the line of an index. The indexes must not decrease. */
function lineStarts(text: string): (at: number) => number {
  let start = 0;
  let next = text.indexOf('\n');
  return (at) => {
    while (next !== -1 && next < at) {
      start = next + 1;
      next = text.indexOf('\n', start);
    }
    return start;
  };
}
