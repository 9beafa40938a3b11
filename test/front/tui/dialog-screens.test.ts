import { describe, it } from 'vitest';
import { choiceDialog, TypedSecret, type Dialog } from '../../../src/front/tui/model/dialog.ts';
import { PLAIN } from '../../../src/front/tui/view/theme.ts';
import type { Question } from '../../../src/protocol/question.ts';
import { KEYS } from './emulator.ts';
import { pager, picker, question, type Scene } from './scenes.ts';
import { shotOf } from './shot.ts';
import type { Stage } from './stage.ts';
import { useVirtualTime } from './virtual-time.ts';

useVirtualTime();

/** Shows a dialog of the start. */
function showing(name: string, dialog: Dialog): Scene {
  return {
    name,
    play: (stage) => stage.app.session.dispatch({ type: 'dialog', dialog }),
  };
}

/** Asks a question of the main task, and gives it the keys. */
function asking(name: string, asked: Question): Scene {
  return {
    name,
    play: async (stage: Stage) => {
      await stage.say('Bring our retries into one place');
      stage.call('mainmain', asked.callId, asked.tool, {});
      stage.write('mainmain', {
        type: 'question.asked',
        question: asked,
        digest: '0',
        parks: false,
      });
      await stage.screen();
      await stage.emulator.press(KEYS.tab);
    },
  };
}

const ABOUT = { id: 'mainmainq1', task: 'mainmain', callId: 'c', chain: ['main'] };

const signIn = showing(
  'the list of providers',
  choiceDialog({
    subject: 'provider',
    title: 'Sign in to a provider',
    lines: ['For another server: muster login NAME --base-url URL'],
    options: ['anthropic', 'openai', 'google', 'openrouter', 'deepseek', 'mistral'].map((name) => ({
      value: name,
      label: name,
      help: 'no key',
    })),
  }),
);

const key: Dialog = {
  kind: 'secret',
  subject: 'key',
  title: 'API key of Anthropic',
  lines: [
    'Create a key on https://platform.claude.com/settings/keys',
    'The key will be sent to https://api.anthropic.com/v1',
  ],
  secret: new TypedSecret('sk-typed'),
  hasList: true,
};

const trustReview = showing(
  'the review of files to trust',
  choiceDialog({
    subject: 'trust',
    title: 'This project has files that change what Muster does',
    lines: [
      '.muster/config.toml',
      ...Array.from({ length: 24 }, (_, index) => `  allow = "Bash(step-${index}:*)"`),
    ],
    options: [
      { value: 'later', label: 'Not now', help: 'work without them; /trust asks again' },
      { value: 'trust', label: 'Trust', help: 'this file, with exactly this content' },
    ],
  }),
);

const undo: Scene = {
  name: 'the confirmation of an undo',
  play: async (stage) => {
    await stage.say('Mend it');
    stage.answer('mainmain', 'Done.');
    stage.end('mainmain');
    stage.finish();
    await stage.screen();
    const size = { messages: 4, turns: 2, end: 'completed' };
    const plan = {
      task: 'mainmain',
      agent: 'main',
      wish: { to: 0 },
      only: null,
      to: 0,
      toTime: 0,
      undoes: null,
      ends: null,
      isThere: false,
      before: size,
      after: { messages: 0, turns: 0, end: null },
      tasks: ['child1xx'],
      dropped: [],
      files: [{ path: '/home/you/project/src/retry.ts', from: { hash: 'a' }, to: { hash: 'b' } }],
      refused: [],
      left: [],
      commands: ['npm test'],
      unknownCalls: 0,
      roots: [],
      logs: {},
    } as never;
    const prompt = { text: 'Mend it', before: null };
    stage.app.session.dispatch({ type: 'rewind-planned', plan, prompt });
  },
};

/** Every dialog that takes the keys. The pictures of the first three on other sizes are in `screens.test.ts`. */
const DIALOGS: readonly Scene[] = [
  picker,
  pager,
  question,
  asking('a question of the model', {
    ...ABOUT,
    tool: 'AskUser',
    kind: 'input',
    text: 'Which rounding?',
    options: ['half up', 'half to even'],
  }),
  asking('a plan', {
    ...ABOUT,
    tool: 'ExitPlanMode',
    kind: 'plan',
    text: '# One retry helper\n\n1. Add `src/retry.ts`\n2. Use it **everywhere**',
  }),
  undo,
  showing(
    'no model at the start',
    choiceDialog({
      subject: 'start',
      title: 'Muster found no model',
      lines: ['The environment has no key of a known provider, and no account is signed in.'],
      options: [
        { value: 'sign-in', label: 'Sign in', help: 'to a provider, with an API key' },
        { value: 'offline', label: 'Go on without', help: 'an offline search answers' },
      ],
    }),
  ),
  signIn,
  showing('a key', key),
  showing('a key that is tested', { ...key, kind: 'busy' }),
  trustReview,
];

describe('a dialog on 80 × 24', () => {
  it.for(DIALOGS)('$name', async (scene, { expect }) => {
    const dark = await shotOf(scene);
    const light = await shotOf(scene, { background: 'light' });
    const plain = await shotOf(scene, { theme: PLAIN });
    expect(dark.text).toMatchSnapshot('text');
    expect(dark.paint).toMatchSnapshot('dark');
    expect(light.paint).toMatchSnapshot('light');
    // Without color every sign and word is still there, and only the cursor is reversed.
    expect([light.text, plain.text]).toEqual([dark.text, dark.text]);
    expect(plain.paint.replaceAll(/\d+: \d+\+1 #/g, '').trim()).toBe('');
  });
});
