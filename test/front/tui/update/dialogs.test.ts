import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import type { AppState } from '../../../../src/front/tui/model/app-state.ts';
import { choiceDialog, TypedSecret, type Dialog } from '../../../../src/front/tui/model/dialog.ts';
import type { UiMessage } from '../../../../src/front/tui/update/message.ts';
import type { Update } from '../../../../src/front/tui/update/step.ts';
import { update } from '../../../../src/front/tui/update/update.ts';
import { drawDialog } from '../../../../src/front/tui/view/dialog-view.ts';
import { CONTEXT, stateOf } from './fixtures.ts';

function run(state: AppState, ...messages: readonly UiMessage[]): Update {
  let last: Update = { state, effects: [] };
  for (const message of messages) last = update(last.state, message, CONTEXT);
  return last;
}

const key = (name: string): UiMessage => ({ type: 'dialog-typed', input: { key: name, text: '' } });
const text = (typed: string): UiMessage => ({
  type: 'dialog-typed',
  input: { key: null, text: typed },
});
const SECRET: Dialog = {
  kind: 'secret',
  subject: 'key',
  title: 'API key',
  lines: [],
  secret: new TypedSecret(),
  hasList: false,
};
const CHOICE = choiceDialog({
  subject: 'provider',
  title: 'Choose',
  lines: ['Read this first.'],
  options: ['one', 'two', 'three', 'four', 'five', 'six'].map((value) => ({
    value,
    label: value,
    help: '',
  })),
});
const answerOf = ({ effects: [effect] }: Update) =>
  effect?.type === 'answer-dialog' ? [effect.subject, effect.answer.reveal()] : effect;

it('a secret is typed, corrected and given, and no state shows it', () => {
  const typed = run(stateOf({ dialog: SECRET }), text('sk-typp'), key('backspace'), text('ed'));
  const { dialog } = typed.state;
  expect(`${inspect(typed.state, { depth: 9 })}${JSON.stringify(dialog)}`).not.toContain('sk-');
  const size = { width: 60, height: 12 };
  const drawn = dialog === null ? [] : drawDialog(dialog, size, CONTEXT.pen);
  expect(drawn.join('\n')).toContain('8 characters typed (not shown)');
  const given = run(typed.state, key('enter'));
  expect(answerOf(given)).toEqual(['key', 'sk-typed']);
  expect(given.state.dialog).toMatchObject({ kind: 'busy' });
  // A second press gives nothing.
  expect(run(given.state, key('enter')).effects).toEqual([]);
});

it('Esc at a key returns to the list of providers, if the provider was chosen there', () => {
  const listed = run(stateOf({ dialog: { ...SECRET, hasList: true } }), key('escape'));
  expect([listed.state.dialog, listed.effects]).toEqual([
    null,
    [{ type: 'cancel-dialog' }, { type: 'open-dialog', subject: 'login', argument: '' }],
  ]);
  const named = run(stateOf({ dialog: SECRET }), key('escape'));
  expect([named.state.dialog, named.effects]).toEqual([null, [{ type: 'cancel-dialog' }]]);
});

it.each<readonly [string, readonly UiMessage[], string]>([
  ['the first option', [key('enter')], 'one'],
  ['the next option', [key('down'), key('down'), key('up'), key('enter')], 'two'],
  ['an option that fits what is typed', [text('th'), key('enter')], 'three'],
  ['no option beyond the last', [...Array<UiMessage>(9).fill(key('down')), key('enter')], 'six'],
])('a choice takes %s', (_name, messages, value) => {
  expect(answerOf(run(stateOf({ dialog: CHOICE }), ...messages))).toEqual(['provider', value]);
});

it('the dialogs of the start follow each other, and then the message is sent', () => {
  const start = {
    type: 'started',
    firstMessage: 'hello',
    dialogs: ['trust', 'start'],
    isNew: false,
  } as const;
  const first = run(stateOf(), start);
  expect(first.effects).toEqual([{ type: 'open-dialog', subject: 'trust', argument: '' }]);
  const open: UiMessage = { type: 'dialog', dialog: CHOICE };
  const second = run(first.state, open, key('escape'));
  expect(second.effects).toEqual([
    { type: 'cancel-dialog' },
    { type: 'open-dialog', subject: 'start', argument: '' },
  ]);
  const closed = run(second.state, open, { type: 'dialog', dialog: null });
  expect(closed.effects).toEqual([
    { type: 'dispatch', message: { type: 'submitted', text: 'hello' } },
  ]);
  expect(closed.state).toMatchObject({ dialog: null, firstMessage: null, laterDialogs: [] });
});

it.each([
  [40, 12],
  [80, 24],
  [200, 60],
])('a dialog fills %i × %i exactly, with the chosen option in view', (width, height) => {
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index} ${'x'.repeat(index)}`);
  const dialog: Dialog = { ...CHOICE, lines, chosen: 5 };
  const drawn = drawDialog(dialog, { width, height }, CONTEXT.pen);
  expect(drawn).toHaveLength(height);
  expect(drawn.join('\n')).toContain('› six');
});

it('Muster is opened again only if nothing is at work', () => {
  const wanted: UiMessage = { type: 'restart-wanted', done: 'done' };
  expect(run(stateOf(), wanted).effects).toEqual([{ type: 'restart', done: 'done' }]);
  const conversation = { id: 'main', isAtWork: true, isWatched: false, isSending: false };
  const busy = run(stateOf({ conversation }), wanted);
  expect(busy.effects).toEqual([]);
  expect(busy.state.tree.main.entries).toMatchObject([
    { kind: 'note', text: 'done. This applies after /restart, once nothing is at work' },
  ]);
});
