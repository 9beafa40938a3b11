import type { ShellPartQuestion } from '../../../api/index.ts';
import { sanitizeLine } from '../../../base/terminal-text.ts';
import { choiceDialog, type Dialog } from '../model/dialog.ts';

/** Asks the user whether the shell parts of slash commands may run, one after the other. */
export class ShellConfirmation {
  private readonly show: (dialog: Dialog | null) => void;
  private waiting: ((isAllowed: boolean) => void) | null = null;

  /** @param show opens a dialog, or closes it with null */
  constructor(show: (dialog: Dialog | null) => void) {
    this.show = show;
  }

  /** Opens the question. Resolves to false if the user refuses or closes it. */
  ask({ name, command, reason }: ShellPartQuestion): Promise<boolean> {
    this.answer(false);
    const answer = Promise.withResolvers<boolean>();
    this.waiting = answer.resolve;
    this.show(
      choiceDialog({
        subject: 'shell-part',
        title: `${name} runs a shell command before it is sent`,
        lines: [...command.split('\n').map((line) => `  ${sanitizeLine(line)}`), reason],
        options: [
          { value: 'refuse', label: 'Do not run it', help: `${name} is not sent` },
          { value: 'run', label: 'Run it', help: 'this time' },
        ],
      }),
    );
    return answer.promise;
  }

  /** Gives the answer to the open question. Does nothing if none is open. */
  answer(isAllowed: boolean): void {
    const { waiting } = this;
    if (waiting === null) return;
    this.waiting = null;
    this.show(null);
    waiting(isAllowed);
  }
}
