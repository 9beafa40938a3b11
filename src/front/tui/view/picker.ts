import { sanitizeForTerminal } from '../../../base/terminal-text.ts';
import { collapseWhitespace, plural } from '../../../base/text.ts';
import type { AppState, TerminalSize } from '../model/app-state.ts';
import { matchedIndexes, queryWords } from '../model/fuzzy-match.ts';
import type { Bindings } from '../model/key-bindings.ts';
import { keyHint } from '../model/key-names.ts';
import {
  isThemePicker,
  previewOf,
  selectedItem,
  type Picker,
  type PickerItem,
  type PreviewPart,
} from '../model/picker.ts';
import { themeSample } from './theme-sample.ts';
import { fitLine, joinEnds, joinFittingFacts, visibleWidth, wrapText } from './fit.ts';
import { plainLines, type Pen } from './pen.ts';
import { PICKER_TEXTS, type Column } from './picker-texts.ts';

/** The minimum width of a terminal for a preview beside the list, and the minimum height for one below it. */
const MIN_WIDTH_BESIDE = 110;
const MIN_HEIGHT_BELOW = 18;
/** The minimum number of columns that the titles keep. */
const MIN_TITLE = 24;

interface PickerLayout {
  readonly editor: number;
  readonly list: { readonly width: number; readonly height: number };
  /** The place of the preview, or null if there is no room for it. */
  readonly preview: {
    readonly width: number;
    readonly height: number;
    readonly isBeside: boolean;
  } | null;
}

/** Distributes the lines of the terminal: a heading, the filter, the list, the preview and the hints. */
export function pickerLayout({ width, height, editorLines }: TerminalSize): PickerLayout {
  const editor = Math.min(editorLines, Math.max(3, Math.floor(height / 3)));
  const room = Math.max(1, height - 2 - editor);
  if (width >= MIN_WIDTH_BESIDE) {
    const list = Math.floor(width * 0.55);
    const preview = { width: width - list - 3, height: room, isBeside: true };
    return { editor, list: { width: list, height: room }, preview };
  }
  if (height < MIN_HEIGHT_BELOW) return { editor, list: { width, height: room }, preview: null };
  const below = Math.floor(room * 0.4);
  const preview = { width, height: below - 1, isBeside: false };
  return { editor, list: { width, height: room - below }, preview };
}

/** Draws the picker over the complete screen. `editor` is the drawn editor, which holds the filter. */
export function drawPicker(
  picker: Picker,
  state: AppState,
  editor: readonly string[],
  { pen, bindings }: { readonly pen: Pen; readonly bindings: Bindings },
): readonly string[] {
  const { width, height } = state.size;
  const layout = pickerLayout(state.size);
  const list = listLines(picker, layout.list, pen);
  const { take, scopes, stop } = PICKER_TEXTS[picker.kind];
  const hints = [
    ...keyHint(bindings, 'picker-take', take),
    ...(stop === undefined ? [] : keyHint(bindings, 'stop-focused', stop)),
    ...keyHint(bindings, 'interrupt', 'closes'),
    ...(scopes === undefined
      ? []
      : keyHint(bindings, 'picker-toggle', scopes[picker.isWide ? 0 : 1])),
    ...keyHint(bindings, 'picker-page-down', 'next page'),
  ];
  const warning = state.hint ?? (state.tree.questions.size > 0 ? 'a question waits for you' : null);
  const all = [
    headingLine(picker, width, pen),
    ...editor.slice(0, layout.editor),
    ...joinPreview(list, previewLines(picker, layout, pen), layout, pen),
    joinEnds(
      pen.prose('dim', joinFittingFacts(hints, width)),
      warning === null ? '' : pen.prose('warn', warning),
      width,
    ),
  ];
  return all.slice(0, height).map((line) => fitLine(line, width));
}

function headingLine(picker: Picker, width: number, pen: Pen): string {
  const { kind, matches, items, isLoading, isWide, note, query, selected } = picker;
  const { title, scopes } = PICKER_TEXTS[kind];
  const total = isWide ? items.length : items.filter((item) => item.isElsewhere !== true).length;
  const position = matches.length === 0 ? '' : `${selected + 1} of `;
  const shown =
    query.trim() === ''
      ? `${position}${total}`
      : `${plural(matches.length, 'match', 'matches')} of ${total}`;
  const facts = [
    ...(isLoading ? ['loading…'] : []),
    ...(kind === 'undo-scope' ? [] : [shown]),
    ...(scopes === undefined ? [] : [scopes[isWide ? 1 : 0]]),
    ...(note === '' ? [] : [pen.prose('warn', note)]),
  ];
  const right = joinFittingFacts(facts, width, visibleWidth(title) + 1);
  return joinEnds(pen.prose('strong', title), pen.paint('dim', right), width);
}

/** Draws the part of the list in view, in exactly `height` lines. */
function listLines(
  picker: Picker,
  { width, height }: PickerLayout['list'],
  pen: Pen,
): readonly string[] {
  const { kind, matches, items, top, selected, query, isLoading, isWide } = picker;
  if (matches.length === 0) {
    const hidden = items.length;
    const none = hidden === 0 || query.trim() === '' ? PICKER_TEXTS[kind].none : 'nothing matches';
    const more =
      !isWide && hidden > 0 && PICKER_TEXTS[kind].scopes !== undefined
        ? ` (${plural(hidden, 'entry', 'entries')} elsewhere)`
        : '';
    const text = isLoading ? 'loading…' : `${none}${query.trim() === '' ? more : ''}`;
    return fillLines([pen.prose('dim', `  ${text}`)], height);
  }
  const words = queryWords(query);
  const columns = PICKER_TEXTS[kind].columns.filter(
    ({ isWideOnly }) => isWideOnly !== true || isWide,
  );
  const lines = matches
    .slice(top, top + height)
    .map((item, index) =>
      itemLine(item, { words, columns, width, isSelected: top + index === selected }, pen),
    );
  return fillLines(lines, height);
}

interface ItemStyle {
  readonly words: readonly string[];
  readonly columns: readonly Column[];
  readonly width: number;
  readonly isSelected: boolean;
}

function itemLine(item: PickerItem, style: ItemStyle, pen: Pen): string {
  const { words, columns, width, isSelected } = style;
  const head = `${isSelected ? pen.paint('accent', '▶') : ' '} ${item.sign === undefined ? '' : `${item.sign} `}`;
  const mark = item.mark === undefined ? '' : ` ${pen.prose('good', item.mark)}`;
  const title = markMatches(item.title, words, isSelected, pen);
  return joinEnds(`${head}${title}${mark}`, cellsText(item.cells, columns, width, pen), width);
}

/** Draws the cells that fit beside a title, each in its own columns. */
function cellsText(
  cells: readonly string[],
  columns: readonly Column[],
  width: number,
  pen: Pen,
): string {
  let room = width - MIN_TITLE;
  let text = '';
  for (const [index, { width: wanted, isNumber }] of columns.entries()) {
    room -= wanted + 2;
    if (room < 0) break;
    const cell = fitLine(pen.prose('dim', cells[index] ?? ''), wanted);
    const blank = ' '.repeat(wanted - visibleWidth(cell));
    text += `  ${isNumber === true ? `${blank}${cell}` : `${cell}${blank}`}`;
  }
  return text;
}

/** Draws a title on one line, with the letters that match the filter marked. */
function markMatches(
  title: string,
  words: readonly string[],
  isSelected: boolean,
  pen: Pen,
): string {
  const role = isSelected ? 'strong' : 'text';
  const plain = onOneLine(title);
  const found = matchedIndexes(words, plain);
  if (found.size === 0) return pen.prose(role, plain);
  let text = '';
  for (let from = 0; from < plain.length;) {
    const isFound = found.has(from);
    let to = from + 1;
    while (to < plain.length && found.has(to) === isFound) to += 1;
    text += pen.paint(isFound ? 'accent' : role, plain.slice(from, to));
    from = to;
  }
  return text;
}

/** The maximum number of characters of a title that are drawn. */
const MAX_DRAWN = 400;

/** Makes a title plain, so that its parts can be painted one by one. */
function onOneLine(title: string): string {
  return collapseWhitespace(sanitizeForTerminal(title.slice(0, MAX_DRAWN), 'prose'));
}

function previewLines(picker: Picker, { preview }: PickerLayout, pen: Pen): readonly string[] {
  const item = selectedItem(picker);
  if (preview === null || item === undefined) return [];
  const { width, height } = preview;
  if (isThemePicker(picker)) return themeSample(width, pen).slice(0, height);
  const parts = previewOf(picker, item);
  if (parts === null) return [pen.prose('dim', 'loading…')];
  // The same lines are drawn for each frame and key until another item is selected.
  return pen.keep(parts, `${width} ${height}`, () => partLines(parts, { width, height }, pen));
}

/** The maximum number of characters of each part of a preview that are drawn. */
const MAX_PREVIEW_TEXT = 4_000;

/** Draws the parts below each other. If they do not fit, each of them gets a share of the lines. */
function partLines(
  parts: readonly PreviewPart[],
  { width, height }: { readonly width: number; readonly height: number },
  pen: Pen,
): readonly string[] {
  const blocks = parts.map(({ label, text }) => {
    const body = plainLines(text.slice(0, MAX_PREVIEW_TEXT)).trimEnd();
    const lines = body.split('\n').flatMap((line) => wrapText(pen.prose('text', line), width, ''));
    return { label, lines };
  });
  const full = blocks.flatMap(({ label, lines }, index) => [
    ...(index > 0 && label !== '' ? [''] : []),
    ...(label === '' ? [] : [pen.prose('dim', label)]),
    ...lines,
  ]);
  if (full.length <= height) return full;
  let room = height;
  return blocks.flatMap(({ label, lines }, index) => {
    const share = Math.max(1, Math.floor(room / (blocks.length - index)));
    const head = label === '' ? '' : `${pen.prose('dim', `${label}:`)} `;
    const shown = lines.slice(0, share).map((line, at) => (at === 0 ? `${head}${line}` : line));
    const isCut = shown.length < lines.length;
    room -= shown.length;
    return shown.map((line, at) =>
      isCut && at === shown.length - 1
        ? `${fitLine(line, width - 2)} ${pen.paint('dim', '…')}`
        : fitLine(line, width),
    );
  });
}

/** Puts the preview beside or below the list. */
function joinPreview(
  list: readonly string[],
  preview: readonly string[],
  layout: PickerLayout,
  pen: Pen,
): readonly string[] {
  if (layout.preview === null) return list;
  if (!layout.preview.isBeside) {
    const rule = pen.paint('dim', '─'.repeat(layout.list.width));
    return [...list, rule, ...fillLines(preview, layout.preview.height)];
  }
  const bar = pen.paint('dim', '│');
  return list.map((line, index) => {
    const cut = fitLine(line, layout.list.width);
    const blank = ' '.repeat(layout.list.width - visibleWidth(cut));
    return `${cut}${blank} ${bar} ${preview[index] ?? ''}`;
  });
}

function fillLines(lines: readonly string[], height: number): readonly string[] {
  return [...lines, ...Array<string>(Math.max(0, height - lines.length)).fill('')];
}
