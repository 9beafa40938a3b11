import { describe, expect, it } from 'vitest';
import {
  findAttentionMethod,
  attentionSequence,
} from '../../../../src/front/tui/terminal/notification.ts';
import { Stage } from '../stage.ts';

const BELL = '\u0007';
const ST = '\u001b\\';

describe('the kind of notification', () => {
  it.each([
    [{ TERM: 'xterm-kitty' }, 'osc99'],
    [{ KITTY_WINDOW_ID: '1', TERM: 'tmux-256color' }, 'osc99'],
    [{ TERM_PROGRAM: 'iTerm.app' }, 'osc9'],
    [{ LC_TERMINAL: 'iTerm2' }, 'osc9'],
    [{ TERM: 'xterm-ghostty' }, 'osc9'],
    [{ TERM_PROGRAM: 'WezTerm' }, 'osc777'],
    [{ TERM: 'foot-extra' }, 'osc777'],
    [{ TERM: 'rxvt-unicode-256color' }, 'osc777'],
    [{ TERM: 'xterm-256color' }, null],
    [{ TERM_PROGRAM: 'Apple_Terminal' }, null],
    [{ KITTY_WINDOW_ID: '1', STY: '1.screen' }, null],
    [{ KITTY_WINDOW_ID: '' }, null],
  ])('of %j is %s', (environment, kind) => {
    expect(findAttentionMethod(environment).kind).toBe(kind);
  });
});

describe('an attention sequence', () => {
  const method = { isInTmux: false } as const;

  it.each([
    ['osc9', `\u001b]9;child asks${ST}`],
    ['osc777', `\u001b]777;notify;Muster;child asks${ST}`],
    ['osc99', `\u001b]99;;Muster: child asks${ST}`],
    [null, BELL],
  ] as const)('by %s is %j', (kind, text) => {
    expect(attentionSequence('desktop', { ...method, kind }, 'child asks')).toBe(text);
  });

  it('is a bell or nothing if that is configured', () => {
    expect(attentionSequence('bell', { ...method, kind: 'osc9' }, 'x')).toBe(BELL);
    expect(attentionSequence('off', { ...method, kind: 'osc9' }, 'x')).toBe('');
  });

  it('passes through tmux as one sequence, with a bell in case tmux does not pass it on', () => {
    expect(attentionSequence('desktop', { ...method, kind: 'osc9', isInTmux: true }, 'x')).toBe(
      `\u001bPtmux;\u001b\u001b]9;x\u001b\u001b\\${ST}${BELL}`,
    );
  });

  it.each(['a\u0007b', 'a\u001b\\b', 'a\u009cb', 'a\nb', 'a;b', '4;3;100', '\u202ea'])(
    'controls nothing with hostile text: %j',
    (text) => {
      const call = attentionSequence('desktop', { ...method, kind: 'osc9' }, text);
      const inner = call.slice('\u001b]9;'.length, -ST.length);
      expect(call).toBe(`\u001b]9;${inner}${ST}`);
      expect(inner).not.toBe('');
      expect(inner).not.toMatch(/[\p{Cc}\u202e;]|^\d/u);
    },
  );

  it('has a limited length', () => {
    expect(
      attentionSequence('desktop', { ...method, kind: 'osc9' }, 'x'.repeat(10_000)).length,
    ).toBeLessThan(300);
  });
});

it('calls the user for a question and the end of a background task, unless the terminal has the focus', async () => {
  await using stage = new Stage({
    attention: { kind: 'osc9', isInTmux: false },
    settings: { notify: 'desktop' },
  });
  await stage.say('Run the tests');
  const child = { agent: 'tester', parent: 'mainmain', background: true, description: 'the tests' };
  stage.begin('child1xx', child);
  stage.begin('child2xx', child);
  stage.call('child1xx', 'b', 'Bash', { command: 'npm test' });
  stage.question('child1xx', 'b', { chain: ['main', 'tester'] });
  expect(stage.emulator.written).toContain(`\u001b]9;tester asks to run Bash${ST}`);
  await stage.emulator.press('\u001b[I');
  stage.end('child1xx', 'failed');
  expect(stage.emulator.written).not.toContain('tester failed');
  await stage.emulator.press('\u001b[O');
  stage.end('child2xx');
  expect(stage.emulator.written).toContain(`\u001b]9;tester completed: the tests${ST}`);
});
