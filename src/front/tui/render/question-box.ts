import { exactLine } from '../../../base/terminal-text.ts';
import type { PermissionQuestion, ProposedEdit, Question } from '../../../protocol/question.ts';
import { between, fit, wrapped } from './fit.ts';
import type { LineCache } from './line-cache.ts';
import type { Pen } from './pen.ts';

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
  /** The key that turns keys to it, as it is called. */
  readonly focusKey: string;
}

/** The oldest question that waits: who asks, for exactly what, and which keys answer. */
export function questionBox(
  question: Question,
  look: QuestionLook,
  { pen, cache }: { readonly pen: Pen; readonly cache: LineCache },
): readonly string[] {
  const { width, height, isFocused } = look;
  const border = isFocused ? 'warn' : 'dim';
  const body = cache.get(question, String(width), () => bodyLines(question, width - 2, pen));
  const keys = keyLines(question, look, pen);
  const room = Math.max(1, height - 1 - keys.length);
  const scroll = Math.min(look.scroll, Math.max(0, body.length - room));
  const isCut = body.length > room;
  const shown = body.slice(scroll, scroll + (isCut ? room - 1 : room));
  const left = body.length - shown.length;
  return [
    between(
      `${pen.paint(border, '┌─')} ${pen.prose('warn', `? ${title(question)}`)}`,
      look.waiting > 1 ? pen.prose('warn', `1 of ${look.waiting}`) : '',
      width,
    ),
    ...shown.map((line) => fit(`${pen.paint(border, '│')} ${line}`, width)),
    ...(isCut
      ? [fit(`${pen.paint(border, '│')} ${pen.prose('dim', `… ${left} more lines: ↑ ↓`)}`, width)]
      : []),
    ...keys.map((line) => fit(`${pen.paint(border, '└')} ${line}`, width)),
  ];
}

function title(question: Question): string {
  const who = question.chain.join(' > ');
  return question.kind === 'input' ? `${who} asks` : `${who} asks to run ${question.tool}`;
}

function bodyLines(question: Question, width: number, pen: Pen): readonly string[] {
  if (question.kind === 'input') {
    const options = question.options.map((option, index) => `${index + 1}  ${option}`);
    return [...question.text.split('\n'), ...options].flatMap((line) =>
      wrapped(pen.prose('text', line), width, ''),
    );
  }
  const exact = (line: string) => wrapped(pen.exact('strong', line), width, '');
  return [
    ...whole(question).flatMap((text) => text.split('\n').flatMap(exact)),
    ...question.edits.flatMap((edit) => editLines(edit, width, pen)),
    ...wrapped(pen.prose('dim', question.reason), width, ''),
  ];
}

function whole({ commands, paths, hosts, input }: PermissionQuestion): readonly string[] {
  return [...commands, ...paths, ...hosts, ...(input === null ? [] : [input])];
}

function editLines(
  { before, after, everywhere }: ProposedEdit,
  width: number,
  pen: Pen,
): readonly string[] {
  const side = (role: 'added' | 'removed', mark: string, text: string) =>
    text.split('\n').flatMap((line) => wrapped(pen.exact(role, `${mark} ${line}`), width, ''));
  return [
    ...(everywhere ? [pen.prose('dim', 'at every place:')] : []),
    ...(before === null ? [] : side('removed', '-', before)),
    ...side('added', '+', after),
  ];
}

function keyLines(
  question: Question,
  { isFocused, focusKey }: QuestionLook,
  pen: Pen,
): readonly string[] {
  if (!isFocused) return [pen.prose('warn', `${focusKey} to answer`)];
  if (question.kind === 'input') {
    const most = question.options.length;
    const numbers = most === 0 ? [] : [most === 1 ? '1' : `1–${most} choose`];
    return [pen.prose('warn', [...numbers, 't type an answer', 'esc later'].join(' · '))];
  }
  const { rule, scopes } = question;
  const always = rule === null || scopes.length === 0 ? [] : [`a always: ${exactLine(rule)}`];
  return [
    pen.prose('warn', 'y once · n no · r no, and say why · esc later'),
    ...always.map((text) => pen.prose('warn', text)),
  ];
}
