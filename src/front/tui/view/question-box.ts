import { sanitizeLine } from '../../../base/terminal-text.ts';
import type { PermissionQuestion, Question, ProposedEdit } from '../../../protocol/question.ts';
import type { Action, Bindings } from '../model/key-bindings.ts';
import { keyHint, keysOf } from '../model/key-names.ts';
import { visibleWidth, joinEnds, fitLine, wrapText } from './fit.ts';
import type { PendingQuestion } from '../model/task-tree.ts';
import { type Pen, plainLines } from './pen.ts';
import { stripVTControlCharacters } from 'node:util';
import { markdownLines } from './markdown.ts';
import { decodeEntities } from './markdown-inline.ts';
import { textDiff, UNLIMITED_DIFF } from '../model/text-diff.ts';
import { diffLines } from './diff-lines.ts';

export interface QuestionStyle {
  readonly width: number;
  /** The maximum number of lines; at least 4. */
  readonly height: number;
  /** Whether the question has the focus. */
  readonly isFocused: boolean;
  /** The number of waiting questions, this question included. */
  readonly waiting: number;
  /** The index of the first line in view. */
  readonly scroll: number;
  /** The key bindings in force. */
  readonly bindings: Bindings;
}

export interface QuestionBox {
  readonly lines: readonly string[];
  /** The number of lines of the question in view, and the index of the first one. */
  readonly shown: number;
  readonly scroll: number;
}

/** The minimum number of lines of the question's text in view, however many lines the keys need. */
const MIN_BODY = 2;
const TITLE_AT = 4;
const BORDER_WIDTH = 2;

/** Draws a question: who asks, the exact request, and the keys that answer. */
export function questionBox(
  question: PendingQuestion,
  style: QuestionStyle,
  pen: Pen,
): QuestionBox {
  const { width, height, isFocused } = style;
  const border = (sign: string) => pen.paint(isFocused ? 'warn' : 'dim', sign);
  const rule = longRule(question, style);
  const body = pen.keep(question, `${width} ${isFocused} ${rule}`, () =>
    askedLines(question, { width: width - BORDER_WIDTH, rule }, pen).map(
      // A wrapped line has another border than a new one, so that no text can imitate either.
      ({ text, isRest }) => fitLine(`${border(isRest ? '┊' : '│')} ${text}`, width),
    ),
  );
  const keys = keyLines(question, style, rule);
  const room = Math.max(MIN_BODY, height - 1 - keys.length);
  const shown = body.length > room ? room - 1 : body.length;
  const scroll = Math.min(style.scroll, body.length - shown);
  const cut = { above: scroll, below: body.length - scroll - shown };
  const count = style.waiting > 1 ? `1 of ${style.waiting}` : '';
  const title = questionTitle(question, width - TITLE_AT - (count === '' ? 0 : count.length + 1));
  const lines = [
    joinEnds(`${border('┌─')} ${pen.prose('warn', title)}`, pen.prose('warn', count), width),
    ...body.slice(scroll, scroll + shown),
    ...(shown < body.length ? [`${border('│')} ${pen.prose('warn', cutText(cut, style))}`] : []),
    ...keys.map((line) => `${border('└')} ${pen.prose('warn', line)}`),
  ];
  return { lines: lines.slice(0, height).map((line) => fitLine(line, width)), shown, scroll };
}

/** Formats the number of lines out of view, and the keys that scroll to them. */
function cutText(
  { above, below }: { readonly above: number; readonly below: number },
  { isFocused, bindings }: QuestionStyle,
): string {
  if (!isFocused) return `… ${above + below} more lines`;
  const keys = SCROLL_KEYS.flatMap((action) => keysOf(bindings, action).slice(0, 1)).join(' ');
  const where = [
    ...(below > 0 ? [`${below} more below`] : []),
    ...(above > 0 ? [`${above} above`] : []),
  ];
  return `… ${where.join(', ')}: ${keys}`;
}

const SCROLL_KEYS = ['ask-up', 'ask-down', 'page-up', 'page-down'] as const;

/** Returns the rule that "always" would add if the rule does not fit beside its key; null otherwise. */
function longRule(question: PendingQuestion, { width, bindings }: QuestionStyle): string | null {
  if (!offersAlways(question) || question.rule === null) return null;
  const [hint = ''] = keyHint(bindings, 'answer-always', `always: ${sanitizeLine(question.rule)}`);
  return visibleWidth(hint) > width - BORDER_WIDTH ? question.rule : null;
}

function offersAlways(
  question: PendingQuestion,
): question is Extract<PendingQuestion, { kind: 'permission' }> {
  return question.kind === 'permission' && question.rule !== null && question.scopes.length > 0;
}

function keyLines(
  question: PendingQuestion,
  { isFocused, bindings, width }: QuestionStyle,
  rule: string | null,
): readonly string[] {
  const hint = (action: Action, words: string) => keyHint(bindings, action, words);
  const line = (...hints: readonly (readonly string[])[]) =>
    joined(hints.flat(), width - BORDER_WIDTH);
  if (!isFocused) return line(hint('focus-question', 'to answer'));
  const later = hint('interrupt', 'later');
  if (question.kind === 'input') {
    const options = optionKeys(question.options.length, bindings);
    return line(options, hint('answer-text', 'type an answer'), later);
  }
  const why = hint('answer-reason', 'no, with a reason');
  const no = hint('answer-no', 'no');
  if (question.kind === 'plan') {
    const unasked = hint('answer-always', 'approve and allow edits');
    const change = hint('answer-edit', 'change it');
    return [...line(hint('answer-once', 'approve'), unasked, change), ...line(no, why, later)];
  }
  if (question.kind === 'confirm') return line(hint('answer-once', 'yes'), no, later);
  const once = hint('answer-once', 'once');
  const mode = modeHints(question, hint);
  if (rule !== null) {
    const always = hint('answer-always', 'always, see above');
    return [...line(once, always, no, why, later), ...line(...mode)];
  }
  const ruleText = sanitizeLine(question.rule ?? '');
  const always = offersAlways(question) ? hint('answer-always', `always: ${ruleText}`) : [];
  return [...line(once, no, why, later), ...always, ...line(...mode)];
}

/** Lists the keys that grant the agent the mode of its definition. */
function modeHints(
  { modeToGrant }: PermissionQuestion,
  hint: (action: Action, words: string) => readonly string[],
): readonly (readonly string[])[] {
  if (modeToGrant === undefined) return [];
  const { agent, mode, scopes } = modeToGrant;
  const what = `let ${sanitizeLine(agent)} run in its mode, ${mode}`;
  const here = hint('answer-mode', `${what}, in this conversation`);
  if (!scopes.includes('user')) return [here];
  return [here, hint('answer-mode-user', 'the same in every conversation')];
}

/** Joins hints into as many lines as needed, without cutting a hint. */
function joined(hints: readonly string[], width: number): readonly string[] {
  const lines: string[] = [];
  for (const hint of hints) {
    const last = lines.at(-1);
    const longer = `${last} · ${hint}`;
    if (last !== undefined && visibleWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(hint);
  }
  return lines;
}

function optionKeys(count: number, bindings: Bindings): readonly string[] {
  const keys = OPTIONS.slice(0, count).flatMap((action) => keysOf(bindings, action).slice(0, 1));
  const [first, last] = [keys[0], keys.at(-1)];
  if (first === undefined) return [];
  return [first === last ? first : `${first}–${last} choose`];
}

const OPTIONS = ['option-1', 'option-2', 'option-3', 'option-4'] as const;

/** Returns the title of a question. If the full chain of agents does not fit, only the last agent is named; if that does not fit either, its name is cut. */
function questionTitle(question: PendingQuestion, room: number): string {
  if (question.kind === 'confirm') return `? ${question.title}`;
  const { chain } = question;
  const who = chain.at(-1) ?? '';
  const request = requestText(question);
  const what = question.kind === 'permission' ? `: ${question.tool}` : ` ${request}`;
  const titles = [`? ${chain.join(' > ')} ${request}`, `? ${who} ${request}`];
  const fitting = titles.find((title) => visibleWidth(title) <= room);
  return fitting ?? `? ${fitLine(who, Math.max(MIN_WHO, room - visibleWidth(what) - 2))}${what}`;
}

const MIN_WHO = 6;

/** Returns the part of the title after the agent's name. */
export function requestText(question: Question): string {
  if (question.kind === 'permission') return `asks to run ${question.tool}`;
  return question.kind === 'plan' ? 'asks to carry out this plan' : 'asks';
}

/** A line of a question. */
interface AskedLine {
  readonly text: string;
  /** Whether the line continues the previous one, which was wrapped. */
  readonly isRest: boolean;
}

/** Draws the full text of a question, wrapped. `rule` is the rule that "always" would add; null if the rule is shown beside its key. */
function askedLines(
  question: PendingQuestion,
  { width, rule }: { readonly width: number; readonly rule: string | null },
  pen: Pen,
): readonly AskedLine[] {
  const over = (line: string) =>
    wrapText(line, width, '').map((text, index) => ({ text, isRest: index > 0 }));
  const exact = (line: string) => over(pen.exact('strong', line));
  if (question.kind === 'confirm') return question.lines.flatMap(exact);
  if (question.kind === 'plan') {
    const text = plainLines(question.text);
    // The user approves the complete text. If markdown would hide a part of it, the text is shown unchanged.
    return hidesWords(text, pen)
      ? question.text.split('\n').flatMap((line) => over(pen.exact('text', line)))
      : markdownLines(text, { width, isOpen: false }, pen).map((line) => ({
          text: line,
          isRest: false,
        }));
  }
  if (question.kind === 'input') {
    const options = question.options.map((option, index) => `${index + 1}  ${option}`);
    return [...question.text.split('\n'), ...options].flatMap((line) =>
      over(pen.prose('text', line)),
    );
  }
  return [
    ...requestedTexts(question).flatMap((text) => text.split('\n').flatMap(exact)),
    ...question.edits.flatMap((edit) => editLines(edit, pen)).flatMap(over),
    ...over(pen.prose('dim', question.reason)),
    ...(rule === null ? [] : over(pen.prose('dim', `always: ${sanitizeLine(rule)}`))),
  ];
}

/** Lists the texts that describe everything a call would do. */
export function requestedTexts({
  commands,
  paths,
  hosts,
  input,
}: PermissionQuestion): readonly string[] {
  return [...commands, ...paths, ...hosts, ...(input === null ? [] : [input])];
}

/** Draws an edit in full, because the user must be able to see everything before allowing it. */
function editLines({ before, after, everywhere }: ProposedEdit, pen: Pen): readonly string[] {
  return [
    ...(everywhere ? [pen.prose('dim', 'every occurrence:')] : []),
    ...diffLines(textDiff(before, after, UNLIMITED_DIFF), pen),
  ];
}

/** A width at which no line is wrapped, not even in a table. */
const UNBROKEN = 100_000;

/** Whether a letter or digit disappears when a text is drawn as markdown, for example in the title of a link. */
function hidesWords(text: string, pen: Pen): boolean {
  const drawn = markdownLines(text, { width: UNBROKEN, isOpen: false }, pen);
  const shown = keepLetters(stripVTControlCharacters(drawn.join('\n')));
  return shown !== keepLetters(text) && shown !== keepLetters(decodeEntities(text));
}

function keepLetters(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]/gu, '');
}
