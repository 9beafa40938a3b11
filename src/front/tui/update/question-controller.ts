import type { Muster, QuestionAnswer } from '../../../api/index.ts';
import { errorMessage } from '../../../base/errors.ts';
import type { Question } from '../../../protocol/question.ts';
import type { Action } from '../model/key-bindings.ts';
import type { Look } from '../model/view-state.ts';
import type { Asked, Confirmation } from '../model/asked.ts';
import type { UiState } from '../model/task-tree.ts';

/** What is typed, as far as answers need it. */
export interface TypedText {
  getText(): string;
  setText(text: string): void;
}

function answerTyped(
  kind: 'reason' | 'answer' | 'plan',
  text: string,
): Omit<QuestionAnswer, 'question'> {
  switch (kind) {
    case 'reason':
      return text.trim() === '' ? { text: 'no' } : { text: 'no', reason: text };
    case 'plan':
      return { text: 'yes', plan: text };
    case 'answer':
      return { text };
    default:
      return kind satisfies never;
  }
}

interface AnsweringParts {
  readonly muster: Pick<Muster, 'answer'>;
  readonly ui: UiState;
  readonly look: Look;
  readonly editor: TypedText;
  /** What the UI itself has asked is answered. */
  readonly onConfirmed: (isYes: boolean) => void;
  /** Lines of what is asked that are in sight. */
  readonly height: () => number;
}

/**
 * Answers to questions. After each answer keys are the editor's again: who answers one must not answer the
 * next one, which takes its place, with a key pressed too often.
 */
export class Answering {
  private readonly parts: AnsweringParts;

  constructor(parts: AnsweringParts) {
    this.parts = parts;
  }

  /** Turns keys to the oldest question. */
  focus(): void {
    const { ui, look } = this.parts;
    const [first] = ui.questions.keys();
    if (first === undefined) return;
    look.focus = 'question';
    look.question = first;
    look.questionScroll = 0;
  }

  /** Asks before something is done that was typed: keys are for it at once, unless another text is begun. */
  confirm(question: Confirmation): void {
    const { ui, look, editor } = this.parts;
    ui.questions.delete(question.id);
    ui.questions.set(question.id, question);
    if (editor.getText() !== '' || look.focus !== 'editor') return;
    look.focus = 'question';
    look.question = question.id;
    look.questionScroll = 0;
  }

  /** For later; what was being typed is there again. */
  leave(): void {
    const { look, editor } = this.parts;
    if (look.writing.kind !== 'message') {
      editor.setText(look.writing.draft);
      look.writing = { kind: 'message' };
      look.search = null;
    }
    look.focus = 'editor';
    look.question = null;
  }

  /** One that is settled otherwise takes no keys any more. */
  forgetSettled(): void {
    const { look } = this.parts;
    if (look.question === null || this.asked() !== undefined) return;
    this.leave();
    look.hint = 'that question is settled';
  }

  act(action: Action): void {
    const question = this.asked();
    if (question === undefined) return;
    switch (action) {
      case 'ask-up':
        return this.scroll(-1);
      case 'ask-down':
        return this.scroll(1);
      case 'page-up':
        return this.scroll(-this.page);
      case 'page-down':
        return this.scroll(this.page);
      case 'to-end':
        return this.scroll(Infinity);
      case 'answer-once':
        return this.verdict(question, 'yes');
      case 'answer-always':
        return this.verdict(question, 'always');
      case 'answer-mode':
        return this.grantMode(question, 'task');
      case 'answer-mode-user':
        return this.grantMode(question, 'user');
      case 'answer-no':
        return this.verdict(question, 'no');
      case 'answer-reason':
        if (question.kind === 'permission' || question.kind === 'plan') this.write('reason');
        return;
      case 'answer-text':
        if (question.kind === 'input') this.write('answer');
        return;
      case 'answer-edit':
        if (question.kind === 'plan') this.write('plan', question.text);
        return;
      case 'option-1':
      case 'option-2':
      case 'option-3':
      case 'option-4':
        if (question.kind === 'input') this.option(question, Number(action.at(-1)));
        return;
      default:
    }
  }

  /** What was typed, for the question. */
  submit(text: string): void {
    const question = this.asked();
    const { look, editor } = this.parts;
    const { kind } = look.writing;
    if (question === undefined || question.kind === 'confirm') return;
    if (kind === 'message' || kind === 'search') return;
    if (kind !== 'reason' && text.trim() === '') return;
    this.send(question, answerTyped(kind, text));
    if (look.question !== null) editor.setText(text);
  }

  private write(kind: 'reason' | 'answer' | 'plan', begin = ''): void {
    const { look, editor } = this.parts;
    look.writing = { kind, draft: editor.getText() };
    look.focus = 'editor';
    editor.setText(begin);
  }

  private verdict(question: Asked, text: 'yes' | 'always' | 'no'): void {
    if (question.kind === 'confirm') this.confirmed(question, text);
    else if (question.kind !== 'input') this.send(question, { text });
  }

  /** Grants the mode; does nothing if it is not offered. */
  private grantMode(question: Asked, scope: 'task' | 'user'): void {
    if (question.kind !== 'permission') return;
    if (question.modeToGrant?.scopes.includes(scope) !== true) return;
    this.send(question, { text: 'mode', scope });
  }

  private confirmed({ id }: Confirmation, text: 'yes' | 'always' | 'no'): void {
    if (text === 'always') return;
    this.parts.ui.questions.delete(id);
    this.leave();
    this.parts.onConfirmed(text === 'yes');
  }

  private option(question: Extract<Question, { kind: 'input' }>, number: number): void {
    if (number <= question.options.length) this.send(question, { text: String(number) });
  }

  private send(question: Question, wish: Omit<QuestionAnswer, 'question'>): void {
    const { muster, look } = this.parts;
    try {
      muster.answer({ question: question.id, ...wish });
      this.leave();
    } catch (thrown) {
      look.hint = errorMessage(thrown);
    }
  }

  private get page(): number {
    return Math.max(1, this.parts.height() - 1);
  }

  /** How far it can go is known once it is drawn. */
  private scroll(lines: number): void {
    const { look } = this.parts;
    look.questionScroll = Math.max(0, look.questionScroll + lines);
  }

  private asked(): Asked | undefined {
    const { ui, look } = this.parts;
    return look.question === null ? undefined : ui.questions.get(look.question);
  }
}
