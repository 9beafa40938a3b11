import { describe, expect, it } from 'vitest';
import type { AppState } from '../../../../src/front/tui/model/app-state.ts';
import { COMMANDS } from '../../../../src/front/tui/update/commands/command-table.ts';
import { readInput } from '../../../../src/front/tui/update/submit.ts';
import { update } from '../../../../src/front/tui/update/update.ts';
import { CONTEXT, stateOf } from './fixtures.ts';

it.each([
  ['hello', { kind: 'message' }],
  ['/etc/hosts is wrong', { kind: 'message' }],
  [' /help', { kind: 'command', name: 'help', argument: '' }],
  [
    '/compact keep the goal\nand more ',
    { kind: 'command', name: 'compact', argument: 'keep the goal\nand more' },
  ],
  ['!git status', { kind: 'shell', command: 'git status', isShared: true }],
  ['!!ls', { kind: 'shell', command: 'ls', isShared: false }],
  ['# use tabs', { kind: 'note', note: 'use tabs' }],
  ['# Plan\n\nFirst do this.', { kind: 'message' }],
  ['## Heading', { kind: 'message' }],
  ['#12 is fixed', { kind: 'message' }],
  ['!', { kind: 'shell', command: '', isShared: true }],
])('%j is read as %o', (text, input) => {
  expect(readInput(text)).toEqual(input);
});

function submit(text: string, change: Partial<AppState> = {}) {
  const state = stateOf(change, { members: { main: {}, a: { parent: 'main' } } });
  return update(state, { type: 'submitted', text }, CONTEXT);
}

const remember = (text: string) => ({ type: 'remember-input', text });
/** A use of the hint to type `/resume`. */
const COUNTED = { type: 'count-hint', hint: 'resume' };
const IDLE = { id: 'main', isAtWork: false, isWatched: false, isSending: false };

describe('a text that is sent', () => {
  it.each<readonly [string, Partial<AppState>, readonly object[]]>([
    ['hello', {}, [{ type: 'send-message', text: 'hello', to: null }]],
    ['hello', { openTask: 'a' }, [{ type: 'send-message', text: 'hello', to: 'a' }]],
    ['/quit', {}, [{ type: 'leave' }]],
    ['/exit', {}, [{ type: 'leave' }]],
    ['/undo', { conversation: IDLE }, []],
    ['/resume', { surface: 'lines' }, [COUNTED, { type: 'list-conversations' }]],
    ['/resume abc', {}, [COUNTED, { type: 'find-conversation', name: 'abc' }]],
    ['/continue abc', {}, [COUNTED, { type: 'find-conversation', name: 'abc' }]],
    [
      '/compact the goal',
      { conversation: IDLE },
      [{ type: 'send-command', text: '/compact the goal' }],
    ],
    ['/compact', { conversation: IDLE }, [{ type: 'send-command', text: '/compact' }]],
    ['/compact', {}, []],
    ['/context', { conversation: IDLE }, [{ type: 'show-context', task: 'main' }]],
    ['/board', { conversation: IDLE }, [{ type: 'show-board', task: 'main', finding: null }]],
    ['/board a1b', { openTask: 'a' }, [{ type: 'show-board', task: 'a', finding: 'a1b' }]],
    ['/board', {}, []],
    ['/new', { conversation: IDLE }, [{ type: 'start-new-conversation' }]],
    ['/new', { conversation: { ...IDLE, isAtWork: true } }, []],
    ['/resume abc', { conversation: { ...IDLE, isWatched: true } }, [COUNTED]],
    ['/editor a draft', {}, [{ type: 'edit-text', text: 'a draft' }]],
  ])('%s with %o', (text, change, effects) => {
    expect(submit(text, change).effects).toEqual([remember(text), ...effects]);
  });

  it('is not remembered if it is empty', () => {
    expect(submit('  ').effects).toEqual([]);
  });

  it('continues a conversation that was cut off, if it is empty', () => {
    const state = stateOf({}, { members: { main: { hasEnded: true } } });
    const row = state.tree.rows.get('main');
    if (row !== undefined) state.tree.rows.set('main', { ...row, status: 'interrupted' });
    expect(update(state, { type: 'submitted', text: '' }, CONTEXT).effects).toEqual([
      { type: 'continue-conversation' },
    ]);
  });

  it('runs one shell command at a time', () => {
    const first = submit('!ls');
    expect(first.state.isShellRunning).toBe(true);
    const second = update(first.state, { type: 'submitted', text: '!pwd' }, CONTEXT);
    expect(second.effects).toEqual([remember('!pwd')]);
    expect(second.state.hint).toBe('one command at a time: stop the other one first');
    const [, run] = first.effects;
    const key = run?.type === 'run-shell' ? run.key : -1;
    const change = { output: 'a\n', outputLines: 1, outcome: 'exit code 0' };
    const ended = update(first.state, { type: 'shell-output', key, change }, CONTEXT);
    expect(ended.state.isShellRunning).toBe(false);
    expect(ended.state.tree.main.entries).toMatchObject([
      { kind: 'shell', command: 'ls', ...change },
    ]);
  });
});

describe('slash commands', () => {
  it.each(COMMANDS.map((command) => [command.name, command] as const))(
    '/%s has a name that can be typed, a help line, and runs on an empty state',
    (name, command) => {
      expect(readInput(`/${name}`)).toEqual({ kind: 'command', name, argument: '' });
      expect(command.help).not.toBe('');
      expect(() => command.run(stateOf(), '', CONTEXT)).not.toThrow();
    },
  );

  it('are refused for a watched conversation if they would change it', () => {
    const watched = { ...IDLE, isWatched: true };
    const refused = COMMANDS.filter(({ name }) =>
      submit(`/${name}`, { conversation: watched }).state.hint?.includes(
        'does not work while you watch another process',
      ),
    ).map(({ name }) => name);
    expect(refused).toEqual([
      'model',
      'resume',
      'undo',
      'redo',
      'take-back',
      'compact',
      'config',
      'init',
      'login',
      'trust',
      'restart',
      'new',
    ]);
  });

  it('show the nearest name for an unknown name', () => {
    const { state } = submit('/hlep');
    expect(state.tree.main.entries).toMatchObject([
      { kind: 'page', title: '/hlep is not a command', lines: [expect.stringContaining('/help')] },
    ]);
  });
});
