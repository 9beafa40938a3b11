import { stripVTControlCharacters } from 'node:util';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { DEFAULT_BINDINGS } from '../../../../src/front/tui/model/key-bindings.ts';
import { Highlighter } from '../../../../src/front/tui/view/highlighter.ts';
import { visibleWidth } from '../../../../src/front/tui/view/fit.ts';
import { conversationParts } from '../../../../src/front/tui/view/conversation-parts.ts';
import { diffSize } from '../../../../src/front/tui/view/diff-lines.ts';
import { Pen } from '../../../../src/front/tui/view/pen.ts';
import { questionBox } from '../../../../src/front/tui/view/question-box.ts';
import { PLAIN, themeFor, type Theme } from '../../../../src/front/tui/view/theme.ts';
import type { EntryBody } from '../../../../src/front/tui/model/entry.ts';
import { lastLines, textChanges } from '../../../../src/front/tui/model/call-details.ts';
import { addEntry, emptyTranscript } from '../../../../src/front/tui/model/transcript.ts';
import { searchPattern } from '../../../../src/front/tui/model/entry-search.ts';
import type { PermissionQuestion } from '../../../../src/protocol/question.ts';
import { Emulator } from '../emulator.ts';
import { useVirtualTime } from '../virtual-time.ts';

useVirtualTime();

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

/** An answer with the text in and around a code block. */
function answerWith(text: string): readonly EntryBody[] {
  return [{ kind: 'answer', text: `\`\`\`ts ${text.replaceAll('\n', ' ')}\n${text}\n\`\`\`` }];
}

/** Calls and thinking with the text in each place that they have. */
function callsWith(text: string): readonly EntryBody[] {
  const call = (tool: string, input: Parameters<typeof textChanges>[1]): EntryBody => ({
    kind: 'call',
    callId: 'c',
    tool,
    subject: text,
    state: 'done',
    startedAt: 0,
    ms: 1,
    edits: textChanges(tool, input),
    formerContent: null,
    output: text,
    outputLines: 3,
    tail: lastLines(text),
    exitCode: 1,
    document: text,
    todos: [{ content: text, status: 'pending' }],
    answer: text,
  });
  return [
    call('Write', { content: text }),
    call('Edit', { old_string: `same ${text} one`, new_string: `same ${text} two` }),
    call('Edit', { old_string: text, new_string: 'else' }),
    { kind: 'thinking', text },
  ];
}

/** A conversation of these blocks, folded and unfolded, with each search that finds some of it. */
function conversationIn(
  pen: Pen,
  entries: readonly EntryBody[],
  text: string,
): readonly (readonly string[])[] {
  const transcript = emptyTranscript('mainmain');
  for (const entry of entries) addEntry(transcript, entry);
  const searches = [null, searchPattern('a'), searchPattern('word'), searchPattern(text)].map(
    (pattern) => (pattern === null ? null : { pattern, current: { key: 1_024, line: 1 } }),
  );
  const look = {
    width: WIDTH,
    above: [],
    toggled: new Set([0]),
    chosen: null,
    fullTextKeys: 'ctrl+s v',
    tasksKey: 'ctrl+t',
    now: 0,
  };
  return searches.flatMap((search) =>
    (['short', 'full'] as const).map((detail) => {
      const shown = { ...look, pen, detail, thinking: 'short', search } as const;
      const parts = conversationParts(transcript, shown);
      return Array.from({ length: parts.count }, (_, index) => parts.part(index).lines).flat();
    }),
  );
}

/** The question whether that text may be written. */
function questionIn(pen: Pen, text: string): readonly string[] {
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
  return questionBox(
    question,
    {
      width: WIDTH,
      height: 60,
      isFocused: true,
      waiting: 1,
      scroll: 0,
      bindings: DEFAULT_BINDINGS,
      cwd: '/x',
      isDirect: false,
      similar: [],
      isForSimilar: false,
      typing: 'nothing' as const,
      chosen: null,
      proposal: null,
    },
    pen,
  ).lines;
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
  return lines.map((line) => line.trimEnd()).filter((line) => line !== '');
}

/** The characters of what was drawn, wherever the library broke the line: not the borders of its lines. */
function letters(lines: readonly string[]): string {
  return lines.join('').replaceAll(/[\s│┊]/g, '');
}

it('no text controls the terminal, colors a cell, or exceeds its columns', async () => {
  const all = await pens();
  const inEach = (draw: (pen: Pen) => readonly (readonly string[])[]): readonly string[][][] =>
    all.map((pen, index) =>
      draw(pen).map((lines) => lines.map((line) => withoutOwn(line, THEMES[index] ?? PLAIN))),
    );
  fc.assert(
    fc.property(TEXT, (text) => {
      const answers = inEach((pen) => conversationIn(pen, answerWith(text), text));
      const others = inEach((pen) => conversationIn(pen, callsWith(text), text));
      const questions = inEach((pen) => [questionIn(pen, text)]);
      for (const line of [answers, others, questions].flat(3)) expect(line).not.toMatch(STEERING);
      for (const line of [answers[0], others[0], questions[0]].flat(2))
        expect(visibleWidth(line ?? '')).toBeLessThanOrEqual(WIDTH);
      // The same words in the same places; blanks at the end of a line, and on one of their own, aside.
      for (const drawn of others) expect(drawn.map(words)).toEqual(others[0]?.map(words));
      // Where the library breaks the lines of an answer or a question, it takes a colour for a character.
      for (const all of [answers, questions])
        for (const drawn of all) expect(drawn.map(letters)).toEqual(all[0]?.map(letters));
    }),
    { numRuns: 60 },
  );
});

it('drawn text stays in its columns, including wide characters and tabs', async () => {
  const [pen] = await pens();
  if (pen === undefined) throw new Error('there is no pen');
  const text =
    'const 変数 = "値";\t// ｗｉｄｅ e\u0301te\u0301\n\tif (変数) {\n\t\treturn "日本語のとても長い文字列がここにあります";\n\t}\n';
  const entries = [...answerWith(text), ...callsWith(text)];
  const drawn = [...conversationIn(pen, entries, text), questionIn(pen, text)];
  for (const lines of drawn) {
    const emulator = new Emulator(WIDTH, lines.length);
    emulator.write(lines.join('\r\n'));
    const screen = await emulator.screen();
    expect(screen.split('\n')).toEqual(
      lines.map((line) => stripVTControlCharacters(line).trimEnd()),
    );
    expect(emulator.isPainted).toBe(false);
  }
  expect(stripVTControlCharacters(drawn[1]?.join('\n') ?? '')).toMatchSnapshot();
});

it.each([
  ['one line', 'x'.repeat(1_000_000), '+1'],
  ['escape characters', '\u001b'.repeat(1_000_000), '+1'],
  ['lines', 'a\n'.repeat(500_000), '+500000'],
])('a call keeps the beginning of a megabyte of %s', (_what, content, size) => {
  const edits = textChanges('Write', { content });
  const kept = edits.flatMap(({ lines }) => lines);
  expect(JSON.stringify(kept).length).toBeLessThan(20_000);
  expect(diffSize(edits)).toBe(`${size} -0`);
});
