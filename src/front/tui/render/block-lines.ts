import { formatDuration, plural } from '../../../base/text.ts';
import { markdownLines } from '../pi/markdown.ts';
import type { Block, CallBlock, CallState, TextChange } from '../view/block.ts';
import { between, fit, wrapped } from './fit.ts';
import { plainLines, type Pen } from './pen.ts';
import type { Role } from './theme.ts';

export interface BlockLook {
  readonly width: number;
  /** Whether calls and thoughts show more than a line. */
  readonly isExpanded: boolean;
}

const INDENT = '  ';

/** Lines of a folded change, and of what came of a call. */
const FOLDED_CHANGE = 6;
const UNFOLDED_OUTPUT = 40;

/** A block of a conversation, with an empty line above it where it begins something. */
export function blockLines(block: Block, look: BlockLook, pen: Pen): readonly string[] {
  const { width } = look;
  switch (block.kind) {
    case 'said':
      return ['', ...saidLines(block, width, pen)];
    case 'answer':
      return ['', ...answerLines(block.text, width, pen)];
    case 'thinking':
      return thinkingLines(block.text, look, pen);
    case 'call':
      return callLines(block, look, pen);
    case 'note':
      return wrapped(noteText(block, pen), width, '');
    case 'ended':
      return ['', ...wrapped(pen.prose('bad', `■ ${block.status}: ${block.because}`), width, '')];
    case 'page':
      return [
        '',
        fit(pen.prose('strong', block.title), width),
        ...block.lines.flatMap((line) => wrapped(pen.exact('text', line), width, INDENT)),
      ];
    default:
      return block satisfies never;
  }
}

export function answerLines(text: string, width: number, pen: Pen): readonly string[] {
  return markdownLines(plainLines(text), width, pen);
}

function saidLines(
  { text, unread }: Extract<Block, { kind: 'said' }>,
  width: number,
  pen: Pen,
): readonly string[] {
  const lines = plainLines(text)
    .split('\n')
    .flatMap((line) => wrapped(pen.paint('said', line), width - 2, ''));
  const marked = lines.map(
    (line, index) => `${pen.paint('said', index === 0 ? '>' : ' ')} ${line}`,
  );
  return unread ? [...marked, pen.prose('dim', '  … waits for the next turn')] : marked;
}

export function thinkingLines(
  text: string,
  { width, isExpanded }: BlockLook,
  pen: Pen,
): readonly string[] {
  if (isExpanded) return wrapped(pen.paint('dim', plainLines(text)), width, INDENT);
  const words = text.trim().slice(0, width * 4);
  return [fit(`${pen.paint('dim', '∴')} ${pen.prose('dim', words)}`, width)];
}

const NOTE_MARKS = { info: '·', warning: '! warning:', error: '✗ error:' } as const;
const NOTE_ROLES = { info: 'dim', warning: 'warn', error: 'bad' } as const;

function noteText({ level, text }: Extract<Block, { kind: 'note' }>, pen: Pen): string {
  return pen.prose(NOTE_ROLES[level], `${NOTE_MARKS[level]} ${text}`);
}

const CALL_SIGNS: Readonly<Record<CallState, readonly [string, Role]>> = {
  made: ['○', 'dim'],
  running: ['●', 'accent'],
  done: ['✓', 'good'],
  failed: ['✗', 'bad'],
  refused: ['⊘', 'bad'],
};

function callLines(call: CallBlock, look: BlockLook, pen: Pen): readonly string[] {
  const { width, isExpanded } = look;
  const [sign, role] = CALL_SIGNS[call.state];
  const head = `${pen.paint(role, sign)} ${pen.prose('strong', call.tool)} ${pen.exact('text', call.subject)}`;
  return [
    between(head, pen.prose('dim', outcome(call)), width),
    ...changeLines(call.edits, look, pen),
    ...(isExpanded ? outputLines(call, width, pen) : failureLine(call, width, pen)),
  ];
}

function outcome({ state, ms, outputLines }: CallBlock): string {
  if (state === 'made') return '';
  if (state === 'running') return 'running';
  if (state === 'refused') return 'refused';
  const took = ms === null ? [] : [formatDuration(ms)];
  return [plural(outputLines, 'line'), ...took].join(', ');
}

/** Why a call did not do what it was to do is not folded away. */
function failureLine({ state, output }: CallBlock, width: number, pen: Pen): readonly string[] {
  if (state !== 'failed' && state !== 'refused') return [];
  const [first = ''] = output.trimStart().split('\n', 1);
  return [fit(`${INDENT}${pen.prose('bad', first)}`, width)];
}

function outputLines(
  { output, outputLines: all }: CallBlock,
  width: number,
  pen: Pen,
): readonly string[] {
  if (output === '') return [];
  const shown = output.trimEnd().split('\n').slice(0, UNFOLDED_OUTPUT);
  const left = all - shown.length;
  return [
    ...shown.flatMap((line) => wrapped(pen.exact('dim', line), width, INDENT)),
    ...(left <= 0 ? [] : [pen.prose('dim', `${INDENT}… ${plural(left, 'more line')}, in the log`)]),
  ];
}

function changeLines(
  edits: readonly TextChange[],
  { width, isExpanded }: BlockLook,
  pen: Pen,
): readonly string[] {
  const lines = edits.flatMap(({ before, after }) => [
    ...sideLines('removed', '-', before, pen),
    ...sideLines('added', '+', after, pen),
  ]);
  const shown = isExpanded ? lines : lines.slice(0, FOLDED_CHANGE);
  const left = lines.length - shown.length;
  return [
    ...shown.map((line) => fit(`${INDENT}${line}`, width)),
    ...(left === 0 ? [] : [pen.prose('dim', `${INDENT}… ${plural(left, 'more line')}`)]),
  ];
}

function sideLines(role: Role, mark: string, text: string, pen: Pen): readonly string[] {
  if (text === '') return [];
  const lines = text.endsWith('\n') ? text.slice(0, -1) : text;
  return lines.split('\n').map((line) => pen.exact(role, `${mark} ${line}`));
}
