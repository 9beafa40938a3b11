import { sanitizeLine } from '../../../base/terminal-text.ts';
import type { InputQuestion, ProposedEdit } from '../../../protocol/question.ts';
import { describeServerQuestion } from '../../../report/server-question.ts';
import { OPTION_ACTIONS } from '../model/answer-choices.ts';
import { keysOf } from '../model/key-names.ts';
import { visibleWidth, joinEnds, fitLine, wrapText } from './fit.ts';
import type { PendingQuestion } from '../model/task-tree.ts';
import { type Pen, plainLines } from './pen.ts';
import { stripVTControlCharacters } from 'node:util';
import { markdownLines } from './markdown.ts';
import { decodeEntities } from './markdown-inline.ts';
import { BORDER_WIDTH, hiddenRules, keyLines, type QuestionStyle } from './question-keys.ts';
import { aboutText, requestedTexts, requestText } from './question-texts.ts';
import { textDiff, UNLIMITED_DIFF, type TextDiff } from '../model/text-diff.ts';
import { diffLines } from './diff-lines.ts';
export interface QuestionBox {
  readonly lines: readonly string[];
  /** The number of lines of the question in view, and the index of the first one. */
  readonly shown: number;
  readonly scroll: number;
  /** The lines of the question with the chosen one of the answers that the model offers; null if none is chosen. */
  readonly chosenLines: { readonly start: number; readonly end: number } | null;
  /** Whether the answer keys act without the focus. */
  readonly isDirect: boolean;
}

/** The minimum number of lines of the question's text in view, however many lines the keys need. */
const MIN_BODY = 2;
const TITLE_AT = 4;

/** Draws a question: who asks, the exact request, and the keys that answer. */
export function questionBox(
  question: PendingQuestion,
  style: QuestionStyle,
  pen: Pen,
): QuestionBox {
  const { width, height, isFocused } = style;
  const border = (sign: string) => pen.paint(isFocused ? 'warn' : 'dim', sign);
  const rules = hiddenRules(question, style);
  const ids = style.similar.map(({ id }) => id).join(' ');
  const option =
    style.chosen === null ? null : OPTION_ACTIONS.findIndex((each) => each === style.chosen);
  const version = `${width} ${isFocused} ${rules.length} ${style.isForSimilar} ${option} ${ids}`;
  const draw = (diff: TextDiff | null) =>
    pen.keep(diff ?? question, version, () =>
      bodyLines(question, { ...style, width: width - BORDER_WIDTH, rules, option, diff }, pen).map(
        // A wrapped line has another border than a new one, so that no text can imitate either.
        ({ text, isRest }) => fitLine(`${border(isRest ? '┊' : '│')} ${text}`, width),
      ),
    );
  const keys = keyLines(question, style, rules);
  const isTooLong = ({ length }: readonly string[]) => length + keys.length + 1 > height;
  const { proposal } = style;
  const full = draw(proposal?.full ?? null);
  const body = proposal !== null && !isFocused && isTooLong(full) ? draw(proposal.brief) : full;
  if (style.isDirect && isTooLong(body)) {
    return questionBox(question, { ...style, isDirect: false }, pen);
  }
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
  const fitted = lines.slice(0, height).map((line) => fitLine(line, width));
  const chosenLines = findChosenLines(question, width - BORDER_WIDTH, option, pen);
  return { lines: fitted, shown, scroll, chosenLines, isDirect: style.isDirect };
}

/** Finds the lines of an answer that the model offers. The answers are the last lines of the question. */
function findChosenLines(
  question: PendingQuestion,
  width: number,
  option: number | null,
  pen: Pen,
): QuestionBox['chosenLines'] {
  if (question.kind !== 'input' || option === null || option === -1) return null;
  const heights = inputLines(question, option).map(
    (line) => wrapLine(pen.prose('text', line), width).length,
  );
  const sum = (lines: readonly number[]) => lines.reduce((total, height) => total + height, 0);
  const last = heights.length - question.options.length + option;
  return { start: sum(heights.slice(0, last)), end: sum(heights.slice(0, last + 1)) };
}

/** Returns the lines of a question of AskUser and of its answers. They are moved to the right if any answer is marked. */
function inputLines({ text, options }: InputQuestion, option: number | null): readonly string[] {
  const mark = (index: number) => (option === null ? '' : index === option ? '▶ ' : '  ');
  return [
    ...text.split('\n'),
    ...options.map((each, index) => `${mark(index)}${index + 1}  ${each}`),
  ];
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

/**
 * Returns the title of a question: the agents down to the one that asks, and the description of its task. What does not
 * fit is left out: first the agents above, then the description. If the agent's name does not fit either, it is cut.
 */
function questionTitle(question: PendingQuestion, room: number): string {
  if (question.kind === 'confirm') return `? ${question.title}`;
  const { chain } = question;
  const who = chain.at(-1) ?? '';
  const request = requestText(question);
  const what = question.kind === 'permission' ? `: ${question.tool}` : ` ${request}`;
  const about = aboutText(question);
  const titles = [
    `? ${chain.join(' > ')}${about} ${request}`,
    `? ${who}${about} ${request}`,
    `? ${who}${about}${what}`,
    `? ${who} ${request}`,
  ];
  const fitting = titles.find((title) => visibleWidth(title) <= room);
  return fitting ?? `? ${fitLine(who, Math.max(MIN_WHO, room - visibleWidth(what) - 2))}${what}`;
}

const MIN_WHO = 6;

/** A line of a question. */
interface AskedLine {
  readonly text: string;
  /** Whether the line continues the previous one, which was wrapped. */
  readonly isRest: boolean;
}

interface BodyStyle extends Pick<QuestionStyle, 'cwd' | 'similar' | 'isForSimilar'> {
  /** The change of the edits with line numbers; null if it is not known. */
  readonly diff: TextDiff | null;
  readonly width: number;
  /** The index of the marked answer of a question of AskUser; -1 if another answer is marked, and null if none is. */
  readonly option: number | null;
  /** The rules that "always" would add, if they are not shown beside its key. */
  readonly rules: readonly string[];
}

/** Draws a question, and the similar ones if the next answer is for them, too. */
function bodyLines(question: PendingQuestion, style: BodyStyle, pen: Pen): readonly AskedLine[] {
  const { similar, isForSimilar, width } = style;
  const lines = [...askedLines(question, style, pen)];
  for (const each of isForSimilar ? similar : []) {
    lines.push(...wrapLine(pen.prose('warn', otherTitle(each)), width));
    lines.push(...askedLines(each, { ...style, rules: [], diff: null }, pen));
  }
  return lines;
}

function wrapLine(line: string, width: number): readonly AskedLine[] {
  return wrapText(line, width, '').map((text, index) => ({ text, isRest: index > 0 }));
}

function otherTitle(question: PendingQuestion): string {
  if (question.kind === 'confirm') return question.title;
  return `and ${question.chain.at(-1) ?? ''}${aboutText(question)}:`;
}

/** Draws the full text of a question, wrapped. */
function askedLines(
  question: PendingQuestion,
  { width, cwd, rules, diff, option }: BodyStyle,
  pen: Pen,
): readonly AskedLine[] {
  const over = (line: string) => wrapLine(line, width);
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
    return inputLines(question, option).flatMap((line) => over(pen.prose('text', line)));
  }
  if (question.kind === 'server') return describeServerQuestion(question).flatMap(exact);
  return [
    ...requestedTexts(question, cwd).flatMap((text) => text.split('\n').flatMap(exact)),
    ...(diff === null
      ? question.edits.flatMap((edit) => editLines(edit, pen))
      : diffLines(diff, pen)
    ).flatMap(over),
    ...over(pen.prose('dim', question.reason)),
    ...(question.serverSays === undefined
      ? []
      : over(pen.prose('dim', sanitizeLine(question.serverSays)))),
    ...rules.flatMap((rule) => over(pen.prose('dim', `always: ${sanitizeLine(rule)}`))),
  ];
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
