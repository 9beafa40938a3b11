import { lazy } from '../../base/lazy.ts';
import { listNames } from '../../base/text.ts';
import { CALL_FORMS, CALL_WRAPPERS, type CallForm } from './forms.ts';
import { matches, skipSpace } from './json-calls.ts';
import { canonicalToolName } from '../tool-aliases.ts';

/** A call that is written as text in an answer. */
export interface TextCall {
  /** The canonical name of the tool. */
  readonly tool: string;
  readonly form: CallForm;
}

/** Calls that follow each other in a text. */
interface CallRun {
  /** The index after the last call. */
  readonly end: number;
  /** The first call of one of the searched tools; null: there is none. */
  readonly call: TextCall | null;
}

/** The tools whose calls are searched for, and the state of the search. */
interface Search {
  readonly tools: readonly string[];
  /** The number of further beginnings that may turn out to be no call. Each may have been read to the end of the text. */
  remainingTries: number;
}

/** The maximum length of a text that is searched. A longer text is assumed to contain no call. */
const MAX_LENGTH = 1_000_000;
/** The approximate maximum number of characters that are read after beginnings that turn out to be no call. */
const MAX_WASTED_CHARACTERS = 8_000_000;
const MIN_TRIES = 8;

/** The tokens for the end of a message. Servers that do not know the model leave them in the text. */
const END_TOKENS = listNames(`
  <|im_end|> <|eot_id|> <|eom_id|> <|endoftext|> <|end_of_text|> <|call|> <|end|> <|return|>
  <|observation|> <|user|> <｜end▁of▁sentence｜> <end_of_turn> <turn|> [e~[ </s>
`);
/** The characters with which a call can end. */
const LAST_CHARACTERS: ReadonlySet<string> = new Set(['>', '}', ']', ')', '`']);

const FENCE = /^ {0,3}(?<mark>`{3,}|~{3,})(?<label>[^\n]*)/my;
const THOUGHT_END = /<\/think(?:ing)?>/y;
/** The regular expressions. They are created when an answer looks like a call, because creating them takes time. */
const patterns = lazy(() => {
  const anyForm = CALL_FORMS.map(({ begin }) => begin.replaceAll('(?<name>', '(?:')).join('|');
  const wrapper = CALL_WRAPPERS.join('|');
  return {
    forms: CALL_FORMS.map((form) => ({ form, begin: new RegExp(form.begin, 'my') })),
    anyForm: new RegExp(anyForm, 'my'),
    betweenCalls: new RegExp(`[\\s,;]+|${wrapper}`, 'y'),
    /** Matches the beginning of a code block, of the end of a thought, or of a call. */
    anyStart: new RegExp(`^ {0,3}(?=\`{3}|~{3})|${THOUGHT_END.source}|${wrapper}|${anyForm}`, 'gm'),
  };
});
/** The number of characters at the beginning of a line that `QUOTING_LINE` needs. */
const QUOTING_PREFIX_LENGTH = 5;
/** Matches the beginning of a quoted line, or of a line of an indented code block. */
const QUOTING_LINE = /^(?: {4}| {0,3}(?:\t|>))/;
const KIMI_INDEX = /:\d{1,4}$/;
const NAMESPACE = /^(?:functions|default_api|tools)[.:]/;

/**
 * Finds the call with which the text of an answer ends; null: there is no such call. A text that only displays or explains
 * a call does not count: the text continues after the call, the call is in a code block, in a quoted line or in quotation
 * marks, it is incomplete, or it is a call of another tool. `tools`: the canonical names of the tools of the task.
 */
export function findTextCall(text: string, tools: readonly string[]): TextCall | null {
  const answer = removeEndTokens(text);
  if (answer.length > MAX_LENGTH || !LAST_CHARACTERS.has(answer.slice(-1))) return null;
  const search: Search = {
    tools,
    remainingTries: Math.max(MIN_TRIES, MAX_WASTED_CHARACTERS / answer.length),
  };
  const lineStart = createLineStartFinder(answer);
  /** The mark of the fence that began the current code block; null: outside a code block. */
  let block: string | null = null;
  let firstCharacter = 0;
  const { anyStart } = patterns();
  anyStart.lastIndex = 0;
  for (let found = anyStart.exec(answer); found !== null; found = anyStart.exec(answer)) {
    const at = found.index;
    anyStart.lastIndex = at + 1;
    if (matches(THOUGHT_END, answer, at)) {
      block = null;
      firstCharacter = skipSpace(answer, THOUGHT_END.lastIndex);
      continue;
    }
    const fence = findFence(answer, at);
    if (block !== null) {
      if (fence !== null && closesBlock(fence, block)) block = null;
      continue;
    }
    const start = lineStart(at);
    if (QUOTING_LINE.test(answer.slice(start, Math.min(start + QUOTING_PREFIX_LENGTH, at))))
      continue;
    const run = readCalls(answer, at, search, at <= firstCharacter ? 'full' : 'last');
    if (run.end === answer.length && run.call !== null) return run.call;
    if (search.remainingTries < 0) return null;
    anyStart.lastIndex = Math.max(run.end, at + 1);
    if (run.end === at && fence !== null) block = fence.mark;
  }
  return null;
}

/** Reads the calls from `start` on, one after the other, including the wrappers around and between them. */
function readCalls(text: string, start: number, search: Search, part: 'full' | 'last'): CallRun {
  let call: TextCall | null = null;
  for (let end = start; ;) {
    const read = readCall(text, end, search, part);
    if (read === null) {
      const next = skipBetweenCalls(text, end);
      if (next === end) return { end, call };
      end = next;
      continue;
    }
    const tool = read.names.map(toCanonicalName).find((name) => search.tools.includes(name));
    if (call === null && tool !== undefined) call = { tool, form: read.form };
    end = read.end;
  }
}

/** Reads one call; null: there is no call at `at`. `part`: whether the call begins the answer, or follows other text. */
function readCall(text: string, at: number, search: Search, part: 'full' | 'last') {
  const { anyForm, forms } = patterns();
  if (!matches(anyForm, text, at)) return null;
  for (const { form, begin } of forms) {
    if (form.isFullAnswer === true && part !== 'full') continue;
    begin.lastIndex = at;
    const found = begin.exec(text);
    if (found === null) continue;
    const calls = form.read(text, begin.lastIndex, found.groups?.['name'] ?? '');
    if (calls !== null) return { ...calls, form };
    search.remainingTries -= 1;
  }
  return null;
}

function toCanonicalName(written: string): string {
  const name = written.replace(KIMI_INDEX, '').replace(NAMESPACE, '');
  return canonicalToolName(name) ?? name;
}

function skipBetweenCalls(text: string, start: number): number {
  const { betweenCalls } = patterns();
  let at = start;
  while (at < text.length && matches(betweenCalls, text, at)) at = betweenCalls.lastIndex;
  return at;
}

function removeEndTokens(text: string): string {
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

/** Finds the fence of a code block at `at`, or returns null. The label of a fence of backticks must not contain a backtick. */
function findFence(text: string, at: number): Fence | null {
  FENCE.lastIndex = at;
  const { mark = '', label = '' } = FENCE.exec(text)?.groups ?? {};
  return mark === '' || (mark.startsWith('`') && label.includes('`')) ? null : { mark, label };
}

function closesBlock({ mark, label }: Fence, block: string): boolean {
  return mark.startsWith(block) && label.trim() === '';
}

/** Creates a function that finds the start of the line at an index. The indexes of successive calls must not decrease. */
function createLineStartFinder(text: string): (at: number) => number {
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
