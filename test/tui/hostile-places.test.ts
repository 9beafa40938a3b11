import { stripVTControlCharacters } from 'node:util';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { DEFAULT_BINDINGS } from '../../src/front/tui/keys/bindings.ts';
import { Highlighter } from '../../src/front/tui/highlight/highlighter.ts';
import { visibleWidth } from '../../src/front/tui/pi/text-width.ts';
import { conversationParts } from '../../src/front/tui/render/conversation.ts';
import { diffSize } from '../../src/front/tui/render/diff-lines.ts';
import { LineCache } from '../../src/front/tui/render/line-cache.ts';
import { Pen } from '../../src/front/tui/render/pen.ts';
import { questionBox } from '../../src/front/tui/render/question-box.ts';
import { PLAIN, themeFor, type Theme } from '../../src/front/tui/render/theme.ts';
import type { BlockBody } from '../../src/front/tui/view/block.ts';
import { textChanges } from '../../src/front/tui/view/text-changes.ts';
import { addBlock, emptyTranscript } from '../../src/front/tui/view/transcript.ts';
import { searchPattern } from '../../src/front/tui/view/search-pattern.ts';
import type { PermissionQuestion } from '../../src/protocol/question.ts';
import { Emulator } from './emulator.ts';

const WIDTH = 40;

const PIECES = fc.constantFrom(
  '\u001b[2J',
  '\u001b[31m',
  '\u001b[0m',
  '\u001b[5;5H',
  '\u001b]0;owned\u0007',
  '\u001b]52;c;b3duZWQ=\u0007',
  '\u001b]8;;http://a\u0007',
  '\u009b31m',
  '\u001b[',
  '\r',
  '\b',
  '\t',
  '\n',
  '\u2028',
  '\u202e',
  '\u2066',
  '\u200b',
  '\u200d',
  '\u0301',
  '\ufe0f',
  '\ud800',
  'x'.repeat(50),
  '日本語',
  '👩‍👩‍👧',
  'e\u0301',
  'ｗｉｄｅ',
  'const a = "b"; // c',
  '```',
  '~~~\n',
  '| a | b |\n|---|---|\n',
  '</span>',
  '&lt;',
  ' ',
  'word',
);
const TEXT = fc.array(PIECES, { maxLength: 25 }).map((pieces) => pieces.join(''));

const THEMES = [PLAIN, themeFor({}), themeFor({ COLORFGBG: '0;15' })];

async function pens(): Promise<readonly Pen[]> {
  const loaded = Promise.withResolvers<void>();
  const highlighter = new Highlighter({
    onLoaded: loaded.resolve,
    onFailed: (why) => loaded.reject(new Error(why)),
  });
  highlighter.runs('a', 'ts');
  await loaded.promise;
  return THEMES.map((theme) => new Pen(theme, highlighter));
}

/** Every new place into which a text can get, drawn. */
function drawnIn(pen: Pen, text: string): readonly (readonly string[])[] {
  const transcript = emptyTranscript('mainmain');
  const call = (tool: string, input: Parameters<typeof textChanges>[1]): BlockBody => ({
    kind: 'call',
    callId: 'c',
    tool,
    subject: text,
    state: 'done',
    startedAt: 0,
    ms: 1,
    edits: textChanges(tool, input),
    output: text,
    outputLines: 3,
  });
  addBlock(transcript, {
    kind: 'answer',
    text: `\`\`\`ts ${text.replaceAll('\n', ' ')}\n${text}\n\`\`\``,
  });
  addBlock(transcript, call('Write', { content: text }));
  addBlock(
    transcript,
    call('Edit', { old_string: `same ${text} one`, new_string: `same ${text} two` }),
  );
  addBlock(transcript, call('Edit', { old_string: text, new_string: 'else' }));
  addBlock(transcript, { kind: 'thinking', text });
  const searches = [null, searchPattern('a'), searchPattern('word'), searchPattern(text)].map(
    (pattern) => (pattern === null ? null : { pattern, here: { key: 1_024, line: 1 } }),
  );
  const tools = { pen, cache: new LineCache() };
  const look = { width: WIDTH, above: [], toggled: new Set<number>(), chosen: null };
  const question: PermissionQuestion = {
    id: 'q',
    task: 'mainmain',
    callId: 'c',
    kind: 'permission',
    chain: ['main'],
    tool: 'Edit',
    commands: [],
    paths: [],
    hosts: [],
    edits: [
      { path: '/x', before: `same ${text} one`, after: `same ${text} two`, everywhere: false },
      { path: '/x', before: null, after: text, everywhere: false },
    ],
    input: null,
    step: 'tool_default',
    reason: 'it asks',
    askedBy: null,
    rule: null,
    scopes: [],
  };
  return [
    ...searches.flatMap((search) =>
      [false, true].map((isExpanded) => {
        const parts = conversationParts(transcript, { ...look, isExpanded, search }, tools);
        return Array.from({ length: parts.count }, (_, index) => parts.part(index).lines).flat();
      }),
    ),
    questionBox(
      question,
      {
        width: WIDTH,
        height: 60,
        isFocused: true,
        waiting: 1,
        scroll: 0,
        bindings: DEFAULT_BINDINGS,
      },
      tools,
    ),
  ];
}

const STEERING =
  // oxlint-disable-next-line no-control-regex -- what is looked for
  /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b]/;

/** As the library ends what it draws of a table. */
const ALL_OFF = '22;23;24;25;27;28;29;39';

/** What the theme writes, taken out. */
function withoutOwn(line: string, theme: Theme): string {
  const codes = new Set(Object.values(theme).filter((each) => each !== ''));
  // oxlint-disable-next-line no-control-regex -- what is looked for
  return line.replaceAll(/\u001b\[([\d;]*)m/g, (whole: string, code: string) =>
    code === '0' || code === ALL_OFF || codes.has(code) ? '' : whole,
  );
}

function words(lines: readonly string[]): readonly string[] {
  return lines.map((line) => line.trimEnd()).filter((line) => line !== '' && line !== '│');
}

/**
 * The library drops the blank at which it wraps, but not one that a colour ends at: of a line
 * that it wraps there, that blank is taken off again.
 */
function asWrapped(
  drawn: readonly (readonly string[])[],
  plain: readonly (readonly string[])[],
): readonly (readonly string[])[] {
  return drawn.map((lines, at) => {
    const expected = words(plain[at] ?? []);
    return words(lines).map((line, row) => (line === ` ${expected[row]}` ? line.slice(1) : line));
  });
}

it('no text steers the terminal, colours a cell, or takes more than its columns', async () => {
  const all = await pens();
  fc.assert(
    fc.property(TEXT, (text) => {
      const [plain = [], ...coloured] = all.map((pen, index) =>
        drawnIn(pen, text).map((lines) =>
          lines.map((line) => withoutOwn(line, THEMES[index] ?? PLAIN)),
        ),
      );
      for (const line of plain.flat()) {
        expect(line).not.toMatch(STEERING);
        expect(visibleWidth(line)).toBeLessThanOrEqual(WIDTH);
      }
      // The same words in the same places; blanks at the end of a line, and on one of their own, aside.
      for (const drawn of coloured) expect(asWrapped(drawn, plain)).toEqual(plain.map(words));
    }),
    { numRuns: 60 },
  );
});

it('what a terminal draws stays in its columns, wide characters and tabs too', async () => {
  const [pen] = await pens();
  if (pen === undefined) throw new Error('there is no pen');
  const text =
    'const 変数 = "値";\t// ｗｉｄｅ e\u0301te\u0301\n\tif (変数) {\n\t\treturn "日本語のとても長い文字列がここにあります";\n\t}\n';
  for (const lines of drawnIn(pen, text)) {
    const emulator = new Emulator(WIDTH, lines.length);
    emulator.write(lines.join('\r\n'));
    const screen = await emulator.screen();
    expect(screen.split('\n')).toEqual(
      lines.map((line) => stripVTControlCharacters(line).trimEnd()),
    );
    expect(emulator.isPainted).toBe(false);
  }
  expect(stripVTControlCharacters(drawnIn(pen, text)[1]?.join('\n') ?? '')).toMatchSnapshot();
});

it.each([
  ['one line', 'x'.repeat(1_000_000), '+1'],
  ['escape characters', '\u001b'.repeat(1_000_000), '+1'],
  ['lines', 'a\n'.repeat(500_000), '+500000'],
])('of a megabyte of %s a call keeps its beginning', (_what, content, size) => {
  const edits = textChanges('Write', { content });
  const kept = edits.flatMap(({ lines }) => lines);
  expect(JSON.stringify(kept).length).toBeLessThan(20_000);
  expect(diffSize(edits)).toBe(`${size} -0`);
});
