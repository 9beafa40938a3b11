import { bash, ofClass, once, task } from '../calls.ts';

const ESC = '\u001b';
/** What takes a terminal over: titles, clipboard, links, the screen, device control, half of one. */
const EVIL = [
  `${ESC}]0;evil title\u0007`,
  `${ESC}]52;c;ZXZpbA==\u0007`,
  `${ESC}]8;;http://127.0.0.1/evil${ESC}\\click${ESC}]8;;${ESC}\\`,
  `${ESC}[2J${ESC}[1;1H`,
  `${ESC}P+q544e${ESC}\\`,
  `${ESC}_Gevil${ESC}\\`,
  '\u009b31m\u009d0;evil\u009c',
  'a\rb\bc\u0007',
  `${ESC}]0;never ends`,
].join('|');
const HIDING = 'user\u202e\u2066// admin\u2069 \u2066\u200b\u{e0041}\u{e0042}';
/** Controls, whole or in half. */
// oxlint-disable-next-line no-control-regex -- it is what must not come out
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
/** What a terminal obeys: all of them but the line's end. */
// oxlint-disable-next-line no-control-regex -- the same
const SEQUENCES = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
/** Back to the beginning of the line. */
const OVERWRITING = /\r(?!\r*\n)/;
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/u;
const GO = ['-p', 'go', '--no-log'];

export const TERMINAL_CASES = ofClass('terminal', [
  {
    name: 'an answer with escape sequences, into a pipe (CVE-2025-55754 and its kind)',
    model: { main: [{ answer: { text: `before ${EVIL}\nafter`, chunks: 7 } }] },
    program: [{ args: GO, says: [/before/, /after/], omits: [SEQUENCES] }],
    expect: {},
  },
  {
    name: 'an answer with escape sequences, on a terminal',
    model: { main: [{ answer: { text: `before ${EVIL}\nafter`, chunks: 7 } }] },
    program: [
      { args: GO, onTerminal: true, says: [/before/, /after/], omits: [SEQUENCES, OVERWRITING] },
    ],
    expect: {},
  },
  {
    name: 'an answer with letters that turn or hide text, on a terminal (CVE-2021-42574)',
    model: { main: [{ answer: { text: `before ${HIDING} after` } }] },
    program: [{ args: GO, onTerminal: true, says: [/before/, /after/], omits: [DIRECTIONS] }],
    expect: {},
  },
  {
    name: 'sequences that are split between the pieces of a stream, on a terminal',
    model: { main: [{ answer: { text: `before ${EVIL.repeat(3)}\nafter`, chunks: 150 } }] },
    program: [
      { args: GO, onTerminal: true, says: [/before/, /after/], omits: [SEQUENCES, OVERWRITING] },
    ],
    expect: {},
  },
  {
    name: 'emoji, families, flags and other scripts stay as they are (control)',
    control: true,
    model: { main: [{ answer: { text: 'fertig 🎉 👩‍👩‍👧 🇩🇪 日本語 עברית ünï\tend' } }] },
    program: [{ args: GO, says: [/fertig 🎉 👩‍👩‍👧 🇩🇪 日本語 עברית ünï\tend/] }],
    expect: {},
  },
  {
    name: 'a subagent’s name, description and progress on the live lines',
    model: {
      main: [{ calls: [task('child', 'Explore', { description: `d ${EVIL} ${HIDING}` })] }],
      tasks: {
        child: [
          {
            calls: [
              { name: 'Notify', input: { message: `n ${EVIL} ${HIDING}` } },
              { name: `T${EVIL}`, input: {} },
            ],
          },
        ],
      },
    },
    program: [{ args: [...GO, '--verbose'], omits: [CONTROLS, DIRECTIONS] }],
    expect: {},
  },
  {
    name: 'tasks that are listed and shown, with hostile prompts, answers and commands',
    settings: {},
    model: {
      main: [
        { calls: [bash(`echo ${EVIL} ${HIDING}`)] },
        { answer: { text: `a ${EVIL} ${HIDING}` } },
      ],
    },
    program: [
      { args: ['-p', `p ${EVIL} ${HIDING}`.replaceAll('\u0000', '')], omits: [SEQUENCES] },
      { args: ['tasks', 'list'], omits: [CONTROLS, DIRECTIONS] },
      { args: ['tasks', 'show', '@task@'], omits: [SEQUENCES] },
      {
        args: ['tasks', 'show', '@task@'],
        onTerminal: true,
        omits: [SEQUENCES, OVERWRITING, DIRECTIONS],
      },
      { args: ['tasks', 'log', '@task@'], omits: [CONTROLS, DIRECTIONS] },
    ],
    expect: {},
  },
  {
    name: 'an error of the provider, with hostile text',
    env: { MUSTER_PROVIDER_RETRIES: '0' },
    model: {
      main: [
        { answer: { fault: { kind: 'status', status: 400, message: `no ${EVIL} ${HIDING}` } } },
      ],
    },
    program: [{ args: GO, exit: 1, omits: [CONTROLS, DIRECTIONS] }],
    expect: {},
  },
  {
    name: 'agents with hostile names and descriptions, listed and complained of',
    files: {
      'home/.claude/agents/evil.md': `---\nname: "e${ESC}]0;x\u0007vil\u202e"\ndescription: "d ${ESC}[2J \u202e"\nfield${ESC}[31m: 1\n---\nx\n`,
      [`home/.claude/agents/n${ESC}[2Jame.md`]: 'no front matter',
    },
    program: [
      { args: ['agents', 'list'], exit: [0, 1], omits: [CONTROLS, DIRECTIONS] },
      { args: ['doctor'], exit: [0, 1], omits: [CONTROLS, DIRECTIONS] },
    ],
    expect: {},
  },
  {
    name: 'a configuration with hostile keys and values, complained of',
    files: {
      'home/.config/muster/config.toml':
        '[permissions]\nmode = "\\u001b[2Jx\\u202e"\n"k\\u001b[31m" = 1\n',
    },
    program: [{ args: GO, exit: 2, omits: [CONTROLS, DIRECTIONS] }],
    expect: {},
  },
  {
    name: 'flags and ids with escape sequences, complained of',
    program: [
      { args: [`--${ESC}[2Jflag\u202e`], exit: 2, omits: [CONTROLS, DIRECTIONS] },
      {
        args: ['tasks', 'show', `${ESC}]0;x\u0007\u202e`],
        exit: [1, 2],
        omits: [CONTROLS, DIRECTIONS],
      },
      { args: ['-p', 'x', '--cwd', `/${ESC}[2J\u202e`], exit: 2, omits: [CONTROLS, DIRECTIONS] },
      {
        args: ['-p', 'x', '--allow', `Bash(${ESC}[2J\u202e`],
        exit: 2,
        omits: [CONTROLS, DIRECTIONS],
      },
      { args: ['-p', 'x', '--agents', `{"${ESC}[2J`], exit: 2, omits: [CONTROLS, DIRECTIONS] },
    ],
    expect: {},
  },
  {
    name: 'what a program prints reaches the model as it stays on a screen',
    settings: { person: 'allow' },
    model: once(
      bash(String.raw`printf '\033]0;t\007\033[31mred\033[0m \033[2Jx\rshown\033]8;;u\033\\k'`),
    ),
    expect: { neverSent: ['\\u001b', '\\u0007'] },
  },
  {
    name: 'the question that a person sees shows what would run, whole',
    settings: { person: 'deny' },
    model: once(bash(`echo harmless ${' '.repeat(3_000)}; touch b.txt # \u202e`)),
    expect: { calls: ['refused'] },
  },
]);
