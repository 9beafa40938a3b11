import { exactLine } from '../../../base/terminal-text.ts';
import type { PermissionQuestion, ProposedEdit, Question } from '../../../protocol/question.ts';
import type { Action, Bindings } from '../keys/bindings.ts';
import { keyHint, keysOf } from '../keys/key-names.ts';
import { markdownLines } from '../pi/markdown.ts';
import type { Asked } from '../view/confirmation.ts';
import { visibleWidth } from '../pi/text-width.ts';
import { textDiff, WHOLE } from '../view/text-diff.ts';
import { diffLines } from './diff-lines.ts';
import { between, fit, wrapped } from './fit.ts';
import type { LineCache } from './line-cache.ts';
import { plainLines, type Pen } from './pen.ts';

export interface QuestionLook {
  readonly width: number;
  /** At most so many lines; at least 4. */
  readonly height: number;
  /** Whether keys are for it. */
  readonly isFocused: boolean;
  /** How many wait, this one counted. */
  readonly waiting: number;
  /** Which line of what is asked is the first that is shown. */
  readonly scroll: number;
  /** The keys in force. */
  readonly bindings: Bindings;
}

/** The oldest question that waits: who asks, for exactly what, and which keys answer. */
export function questionBox(
  question: Asked,
  look: QuestionLook,
  { pen, cache }: { readonly pen: Pen; readonly cache: LineCache },
): readonly string[] {
  const { width, height, isFocused } = look;
  const border = isFocused ? 'warn' : 'dim';
  const body = cache.get(question, `${width} ${pen.coloursCode}`, () =>
    bodyLines(question, width - 2, pen),
  );
  const keys = keyLines(question, look, pen);
  const room = Math.max(1, height - 1 - keys.length);
  const scroll = Math.min(look.scroll, Math.max(0, body.length - room));
  const isCut = body.length > room;
  const shown = body.slice(scroll, scroll + (isCut ? room - 1 : room));
  const left = body.length - shown.length;
  const scrollKeys = [...keysOf(look.bindings, 'ask-up'), ...keysOf(look.bindings, 'ask-down')];
  const count = look.waiting > 1 ? `1 of ${look.waiting}` : '';
  return [
    between(
      `${pen.paint(border, '┌─')} ${pen.prose('warn', title(question, width - TITLE_AT - count.length))}`,
      pen.prose('warn', count),
      width,
    ),
    ...shown.map((line) => fit(`${pen.paint(border, '│')} ${line}`, width)),
    ...(isCut
      ? [
          fit(
            `${pen.paint(border, '│')} ${pen.prose('dim', `… ${left} more lines: ${scrollKeys.join(' ')}`)}`,
            width,
          ),
        ]
      : []),
    ...keys.map((line) => fit(`${pen.paint(border, '└')} ${line}`, width)),
  ];
}

const TITLE_AT = 4;

/** Where there is no room for the whole chain, who asks for what goes before those above it. */
function title(question: Asked, room: number): string {
  if (question.kind === 'confirm') return `? ${question.title}`;
  const { chain } = question;
  const whole = `? ${chain.join(' > ')} ${wish(question)}`;
  return visibleWidth(whole) <= room ? whole : `? ${chain.at(-1) ?? ''} ${wish(question)}`;
}

function wish(question: Question): string {
  switch (question.kind) {
    case 'input':
      return 'asks';
    case 'plan':
      return 'asks to carry out this plan';
    case 'permission':
      return `asks to run ${question.tool}`;
    default:
      return question satisfies never;
  }
}

function bodyLines(question: Asked, width: number, pen: Pen): readonly string[] {
  if (question.kind === 'input') {
    const options = question.options.map((option, index) => `${index + 1}  ${option}`);
    return [...question.text.split('\n'), ...options].flatMap((line) =>
      wrapped(pen.prose('text', line), width, ''),
    );
  }
  if (question.kind === 'plan') {
    return markdownLines(plainLines(question.text), { width, isOpen: false }, pen);
  }
  const exact = (line: string) => wrapped(pen.exact('strong', line), width, '');
  if (question.kind === 'confirm') return question.lines.flatMap(exact);
  return [
    ...whole(question).flatMap((text) => text.split('\n').flatMap(exact)),
    ...question.edits.flatMap((edit) => editLines(edit, width, pen)),
    ...wrapped(pen.prose('dim', question.reason), width, ''),
  ];
}

function whole({ commands, paths, hosts, input }: PermissionQuestion): readonly string[] {
  return [...commands, ...paths, ...hosts, ...(input === null ? [] : [input])];
}

/** All of it: whoever allows it must be able to see it. */
function editLines(
  { before, after, everywhere }: ProposedEdit,
  width: number,
  pen: Pen,
): readonly string[] {
  return [
    ...(everywhere ? [pen.prose('dim', 'at every place:')] : []),
    ...diffLines(textDiff(before, after, WHOLE), pen).flatMap((line) => wrapped(line, width, '')),
  ];
}

function keyLines(
  question: Asked,
  { isFocused, bindings }: QuestionLook,
  pen: Pen,
): readonly string[] {
  const hint = (action: Action, words: string) => keyHint(bindings, action, words);
  const line = (...hints: readonly (readonly string[])[]) => [
    pen.prose('warn', hints.flat().join(' · ')),
  ];
  if (!isFocused) return line(hint('focus-question', 'to answer'));
  const later = hint('interrupt', 'later');
  if (question.kind === 'input') {
    return line(
      optionKeys(question.options.length, bindings),
      hint('answer-text', 'type an answer'),
      later,
    );
  }
  const why = hint('answer-reason', 'no, and say why');
  const no = hint('answer-no', 'no');
  if (question.kind === 'plan') {
    const unasked = hint('answer-always', 'the same, and edits run unasked');
    const change = hint('answer-edit', 'change it');
    return [...line(hint('answer-once', 'carry it out'), unasked, change), ...line(no, why, later)];
  }
  if (question.kind === 'confirm') return line(hint('answer-once', 'yes'), no, later);
  const { rule, scopes } = question;
  const always =
    rule === null || scopes.length === 0
      ? []
      : hint('answer-always', `always: ${exactLine(rule)}`).map((text) => pen.prose('warn', text));
  return [...line(hint('answer-once', 'once'), no, why, later), ...always];
}

function optionKeys(count: number, bindings: Bindings): readonly string[] {
  const keys = OPTIONS.slice(0, count).flatMap((action) => keysOf(bindings, action).slice(0, 1));
  const [first, last] = [keys[0], keys.at(-1)];
  if (first === undefined) return [];
  return [first === last ? first : `${first}–${last} choose`];
}

const OPTIONS = ['option-1', 'option-2', 'option-3', 'option-4'] as const;
