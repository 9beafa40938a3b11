import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AppState } from '../../../../src/front/tui/model/app-state.ts';
import { similarQuestions } from '../../../../src/front/tui/model/similar-questions.ts';
import type { Action } from '../../../../src/front/tui/model/key-bindings.ts';
import type { UiEffect, UpdateContext } from '../../../../src/front/tui/update/step.ts';
import type { UiMessage } from '../../../../src/front/tui/update/message.ts';
import { update } from '../../../../src/front/tui/update/update.ts';
import type { PermissionQuestion, Question } from '../../../../src/protocol/question.ts';
import { CONTEXT, permissionQuestion, stateOf } from './fixtures.ts';

const SIZE = { width: 80, height: 40, editorLines: 3 };

/** A UI whose clock the test sets. Effects are collected; messages that are to come later are handled by `pass`. */
class Ui {
  state: AppState;
  readonly effects: UiEffect[] = [];
  private now = 0;
  private later: { readonly at: number; readonly message: UiMessage }[] = [];

  constructor(questions: readonly Question[], change: Partial<AppState> = {}) {
    this.state = stateOf(change, { members: { main: {}, child: { parent: 'main' } }, questions });
    this.draw();
  }

  draw(): void {
    this.handle({ type: 'frame', size: SIZE });
  }

  handle(message: UiMessage): void {
    const context: UpdateContext = { ...CONTEXT, now: () => this.now };
    const { state, effects } = update(this.state, message, context);
    this.state = state;
    for (const effect of effects) {
      if (effect.type === 'dispatch-later') {
        this.later.push({ at: this.now + effect.ms, message: effect.message });
        continue;
      }
      this.effects.push(effect);
      if (effect.type === 'set-editor-text') this.handle({ type: 'typed', text: effect.text });
    }
  }

  /** Presses a key that types a letter, as the screen reports it. */
  press(letter: string): void {
    const key = /[A-Z]/.test(letter) ? `shift+${letter.toLowerCase()}` : letter;
    const isInEditor = this.state.focus === 'editor';
    if (!isInEditor) throw new Error('the editor does not have the focus');
    const text = this.state.typed + letter;
    this.handle({ type: 'key-pressed', meaning: 'editor', key, at: this.now });
    this.handle({ type: 'typed', text });
  }

  shiftTab(): void {
    this.handle({ type: 'key-pressed', meaning: 'cycle-mode', key: 'shift+tab', at: this.now });
  }

  pass(ms: number): void {
    this.now += ms;
    const due = this.later.filter(({ at }) => at <= this.now);
    this.later = this.later.filter(({ at }) => at > this.now);
    for (const { message } of due) this.handle(message);
    this.draw();
  }

  get answers(): readonly object[] {
    return this.effects.flatMap((each) => (each.type === 'answer-question' ? [each.answer] : []));
  }
}

const ONE = permissionQuestion('q1');
const answer = (text: string, more: object = {}) => ({ question: 'q1', text, ...more });

describe('a key without the focus', () => {
  it.each<readonly [string, PermissionQuestion, readonly object[]]>([
    ['y', ONE, [answer('yes')]],
    ['a', ONE, [answer('always')]],
    ['p', ONE, [answer('always', { scope: 'project' })]],
    ['n', ONE, [answer('no')]],
    ['m', ONE, []],
    ['x', ONE, []],
    ['p', permissionQuestion('q1', { scopes: ['task'] }), []],
    ['a', permissionQuestion('q1', { rule: null, scopes: [] }), []],
  ])(
    '%s answers a question that has been on the screen for a while',
    (letter, question, answers) => {
      const ui = new Ui([question]);
      ui.pass(500);
      ui.press(letter);
      expect(ui.answers).toEqual([]);
      ui.pass(300);
      expect(ui.answers).toEqual(answers);
      expect(ui.state.typed).toBe(answers.length === 0 ? letter : '');
    },
  );

  it('writes a reason', () => {
    const ui = new Ui([ONE]);
    ui.pass(500);
    ui.press('r');
    ui.pass(300);
    expect(ui.state).toMatchObject({ focus: 'editor', typed: '', writing: { kind: 'reason' } });
    ui.handle({ type: 'submitted', text: 'use make' });
    expect(ui.answers).toEqual([answer('no', { reason: 'use make' })]);
  });

  it('is typed if the question has just appeared, or if something was just typed', () => {
    const early = new Ui([ONE]);
    early.pass(499);
    early.press('y');
    early.pass(1_000);
    expect([early.answers, early.state.typed]).toEqual([[], 'y']);
    const typing = new Ui([ONE]);
    typing.pass(5_000);
    typing.handle({ type: 'typed', text: 'x' });
    typing.handle({ type: 'typed', text: '' });
    typing.pass(400);
    typing.press('y');
    typing.pass(1_000);
    expect([typing.answers, typing.state.typed]).toEqual([[], 'y']);
  });

  it('is typed if the user goes on typing', () => {
    const ui = new Ui([ONE]);
    ui.pass(5_000);
    for (const letter of 'please') {
      ui.press(letter);
      ui.pass(200);
    }
    ui.pass(1_000);
    expect([ui.answers, ui.state.typed]).toEqual([[], 'please']);
  });

  it('does not answer a question that has replaced the one on the screen', () => {
    const ui = new Ui([ONE]);
    ui.pass(5_000);
    ui.press('y');
    ui.state = { ...ui.state, tree: stateOf({}, { questions: [permissionQuestion('q2')] }).tree };
    ui.pass(300);
    expect(ui.answers).toEqual([]);
  });

  it.each<readonly [string, readonly Question[], Partial<AppState>]>([
    ['different questions wait', [ONE, permissionQuestion('q2', { tool: 'WebFetch' })], {}],
    ['the tree has the focus', [ONE], { focus: 'tasks' }],
    ['an answer is being written', [ONE], { writing: { kind: 'reason', draft: '' } }],
    [
      'not all of the question is in view',
      [permissionQuestion('q1', { commands: ['x\n'.repeat(90)] })],
      {},
    ],
  ])('answers nothing while %s', (_, questions, change) => {
    const ui = new Ui(questions, change);
    ui.pass(5_000);
    ui.handle({ type: 'key-pressed', meaning: 'editor', key: 'y', at: 5_000 });
    ui.handle({ type: 'typed', text: 'y' });
    ui.pass(1_000);
    expect(ui.answers).toEqual([]);
  });

  it('never answers within half a second of the question or of typing', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...'yanp xe'), fc.integer({ min: 0, max: 900 }))),
        (keys) => {
          const ui = new Ui([ONE]);
          let [quietSince, now] = [0, 0];
          for (const [letter, ms] of keys) {
            const before = ui.answers.length;
            now += ms;
            ui.pass(ms);
            if (ui.answers.length > before || ui.state.focus !== 'editor') return;
            const isFree = ui.state.typed === '' && now - quietSince >= 500;
            ui.press(letter);
            expect(ui.state.heldAnswer !== null).toBe(isFree && 'yanp'.includes(letter));
            quietSince = now;
          }
        },
      ),
    );
  });
});

describe('twelve children that ask for the same kind of command', () => {
  const twelve = Array.from({ length: 12 }, (_, index) =>
    permissionQuestion(`q${index}`, {
      task: `child${index}`,
      commands: [`cd packages/p${index} && npm test`],
      rule: `Bash(cd packages/p${index})`,
      moreRules: ['Bash(npm test)'],
      programs: ['cd', 'npm test'],
    }),
  );

  it.each<readonly [string, Action, object]>([
    ['y', 'answer-once', { text: 'yes' }],
    ['n', 'answer-no', { text: 'no' }],
    ['a', 'answer-always', { text: 'always' }],
    ['p', 'answer-project', { text: 'always', scope: 'project' }],
  ])('are all answered by A and %s, once the user has seen them', (letter, meaning, given) => {
    const ui = new Ui(twelve);
    ui.pass(500);
    ui.press('A');
    // This key is too early, because the other commands are not on the screen yet.
    ui.press(letter);
    ui.pass(300);
    const shown = new Set(twelve.map(({ id }) => id));
    expect([ui.answers, ui.state.focus, ui.state.answersAlike]).toEqual([[], 'question', shown]);
    // So is this one, because they have been on the screen for less than half a second.
    ui.handle({ type: 'key-pressed', meaning });
    ui.pass(499);
    ui.handle({ type: 'key-pressed', meaning });
    expect([ui.answers, ui.state.focus]).toEqual([[], 'question']);
    expect(ui.state.hint).toBe('read what is shown now, then press the key again');
    ui.pass(1);
    ui.handle({ type: 'key-pressed', meaning });
    expect(ui.answers).toEqual(twelve.map(({ id }) => ({ question: id, ...given })));
  });

  it('are not answered by a key that comes before the next frame, which shows them', () => {
    const ui = new Ui(twelve, { focus: 'question', question: 'q0' });
    ui.pass(5_000);
    ui.handle({ type: 'key-pressed', meaning: 'answer-similar' });
    ui.handle({ type: 'key-pressed', meaning: 'answer-once' });
    expect(ui.answers).toEqual([]);
    ui.pass(500);
    ui.pass(500);
    ui.handle({ type: 'key-pressed', meaning: 'answer-once' });
    expect(ui.answers).toEqual(twelve.map(({ id }) => ({ question: id, text: 'yes' })));
  });

  it('that take the place of another question are answered once they have been in view', () => {
    const other = permissionQuestion('other', { tool: 'WebFetch', commands: [], hosts: ['x.org'] });
    const ui = new Ui([other, ONE], { focus: 'question', question: 'other' });
    ui.pass(5_000);
    const { tree } = stateOf({}, { questions: [ONE] });
    ui.state = { ...ui.state, tree, focus: 'editor', question: null };
    const answerOnce = (): void => {
      ui.handle({ type: 'key-pressed', meaning: 'focus-question' });
      ui.handle({ type: 'key-pressed', meaning: 'answer-once' });
    };
    // The first question is still on the screen.
    answerOnce();
    ui.draw();
    answerOnce();
    ui.pass(499);
    ui.handle({ type: 'key-pressed', meaning: 'answer-once' });
    expect(ui.answers).toEqual([]);
    ui.pass(1);
    ui.handle({ type: 'key-pressed', meaning: 'answer-once' });
    expect(ui.answers).toEqual([answer('yes')]);
  });

  it('with the same command are all answered by A and y without a pause', () => {
    const same = twelve.map(({ id }) => permissionQuestion(id));
    const ui = new Ui(same);
    ui.pass(500);
    ui.press('A');
    ui.press('y');
    ui.pass(300);
    expect(ui.answers).toEqual(twelve.map(({ id }) => ({ question: id, text: 'yes' })));
  });

  it('with the same rule are released by one “always”', () => {
    const same = twelve.map(({ id }) => permissionQuestion(id));
    const ui = new Ui(same);
    ui.pass(500);
    ui.press('A');
    ui.pass(300);
    expect(ui.state).toMatchObject({ focus: 'question', typed: '' });
    expect(ui.state.answersAlike?.size).toBe(12);
    ui.handle({ type: 'key-pressed', meaning: 'answer-always' });
    expect(ui.answers).toEqual([{ question: 'q0', text: 'always' }]);
  });

  it.each(['focused', 'held'])('are not answered if they are asked after A: %s', (how) => {
    const same = twelve.map(({ id }) => permissionQuestion(id));
    const ui = new Ui(same);
    ui.pass(500);
    ui.press('A');
    if (how === 'focused') ui.pass(300);
    else ui.press('y');
    ui.state.tree.questions.set('late', permissionQuestion('late'));
    if (how === 'focused') ui.handle({ type: 'key-pressed', meaning: 'answer-once' });
    else ui.pass(300);
    expect(ui.answers).toEqual(twelve.map(({ id }) => ({ question: id, text: 'yes' })));
  });

  it('can be answered one by one again', () => {
    const ui = new Ui(twelve);
    ui.pass(500);
    ui.press('A');
    ui.pass(300);
    ui.handle({ type: 'key-pressed', meaning: 'answer-similar' });
    ui.handle({ type: 'key-pressed', meaning: 'answer-once' });
    expect(ui.answers).toEqual([{ question: 'q0', text: 'yes' }]);
  });

  it('are not answered together with a different question', () => {
    const other = permissionQuestion('other', { commands: ['rm -r x'], rule: null, scopes: [] });
    const state = stateOf({}, { questions: [...twelve, other] });
    expect(similarQuestions(state, twelve[0] ?? other)).toEqual(twelve);
    expect(similarQuestions(state, other)).toEqual([other]);
  });
});

describe('shift+tab', () => {
  const EDIT = permissionQuestion('q1', { tool: 'Edit', commands: [], offersEdits: true });

  it('accepts edits from then on, in the question of an edit', () => {
    const ui = new Ui([EDIT]);
    ui.pass(500);
    ui.shiftTab();
    expect(ui.answers).toEqual([answer('edits')]);
    expect(ui.state.pendingMode).toBe(null);
  });

  it('changes the mode if the question has just appeared, or is about something else', () => {
    for (const [question, ms] of [
      [EDIT, 400],
      [ONE, 900],
    ] as const) {
      const ui = new Ui([question]);
      ui.pass(ms);
      ui.shiftTab();
      expect([ui.answers, ui.state.pendingMode?.mode]).toEqual([[], 'default']);
    }
  });

  it('sets a mode only after a pause, or at another key', () => {
    const modes = (ui: Ui) =>
      ui.effects.flatMap((each) => (each.type === 'set-mode' ? [each.modes[0]] : []));
    const ui = new Ui([]);
    for (const ms of [0, 300, 300]) {
      ui.pass(ms);
      ui.shiftTab();
    }
    // The conversation is in plan mode and passes default and acceptEdits.
    expect([modes(ui), ui.state.pendingMode?.mode]).toEqual([[], 'autonomous']);
    ui.pass(600);
    expect(modes(ui)).toEqual(['autonomous']);
    ui.shiftTab();
    ui.press('x');
    expect(modes(ui)).toEqual(['autonomous', 'default']);
    ui.pass(600);
    expect(modes(ui)).toEqual(['autonomous', 'default']);
  });

  it('goes on through the modes when the question of an edit appears meanwhile', () => {
    const ui = new Ui([]);
    ui.shiftTab();
    const members = { main: {}, child: { parent: 'main' } };
    ui.state = { ...ui.state, tree: stateOf({}, { members, questions: [EDIT] }).tree };
    ui.draw();
    ui.pass(500);
    ui.shiftTab();
    expect([ui.answers, ui.state.pendingMode?.mode]).toEqual([[], 'acceptEdits']);
  });

  it('has no effect after a complete round', () => {
    const ui = new Ui([]);
    for (let times = 0; times < 4; times += 1) ui.shiftTab();
    ui.pass(600);
    expect(ui.effects).toEqual([]);
  });
});
