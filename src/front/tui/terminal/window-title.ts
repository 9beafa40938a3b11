import type { Environment } from '../../../sys/env.ts';

const PUSH_TITLE = '\u001b[22;2t';
const POP_TITLE = '\u001b[23;2t';

/** Returns the sequence that sets the title. `text` has no control characters. */
function setTitle(text: string): string {
  return `\u001b]2;${text}\u001b\\`;
}

/** Whether a terminal can have a title. The console of Linux would print it. */
export function hasWindowTitle({ TERM = '' }: Environment): boolean {
  return TERM !== '' && TERM !== 'linux' && TERM !== 'dumb';
}

/** Shows texts as the title of the window, and restores the title that was there before. */
export class WindowTitle {
  private readonly write: (sequence: string) => void;
  private shown: string | null = null;

  constructor(write: (sequence: string) => void) {
    this.write = write;
  }

  /** Shows a text without control characters, unless it is shown already. */
  show(text: string): void {
    if (text === this.shown) return;
    this.write(`${this.shown === null ? PUSH_TITLE : ''}${setTitle(text)}`);
    this.shown = text;
  }

  /** Restores the earlier title. A terminal that does not keep it gets an empty one. */
  restore(): void {
    if (this.shown === null) return;
    this.shown = null;
    this.write(`${setTitle('')}${POP_TITLE}`);
  }
}
