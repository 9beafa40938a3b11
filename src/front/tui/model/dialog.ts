/**
 * A text that is never shown: the key that the user types. Only `reveal` returns it, so that a state that is printed or
 * written by mistake does not contain it.
 */
export class TypedSecret {
  readonly #text: string;

  constructor(text = '') {
    this.#text = text;
  }

  get length(): number {
    return this.#text.length;
  }

  append(text: string): TypedSecret {
    return new TypedSecret(this.#text + text);
  }

  deleteBack(): TypedSecret {
    return new TypedSecret(Array.from(this.#text).slice(0, -1).join(''));
  }

  reveal(): string {
    return this.#text;
  }
}

export interface DialogOption {
  readonly value: string;
  readonly label: string;
  readonly help: string;
}

/** The subject of a dialog, which decides what an answer does. */
export type DialogSubject =
  | 'start'
  | 'provider'
  | 'key'
  | 'untested-key'
  | 'trust'
  | 'note'
  | 'setting';

/** A dialog that opens at the start. `start-again`: no model was found again. */
export type StartDialog = 'start' | 'start-again' | 'trust';

interface DialogText {
  readonly subject: DialogSubject;
  readonly title: string;
  readonly lines: readonly string[];
}

/** A choice. What is typed narrows a long list of options. */
export interface ChoiceDialog extends DialogText {
  readonly kind: 'choice';
  readonly options: readonly DialogOption[];
  /** The index of the chosen option among those that fit what is typed. */
  readonly chosen: number;
  readonly filter: string;
  /** The index of the first text line in view. */
  readonly scroll: number;
}

/** A line to type, which begins with the present value. */
export interface TextDialog extends DialogText {
  readonly kind: 'text';
  readonly text: string;
  /** The reason why the last text was refused; null if there is none. */
  readonly problem: string | null;
}

/** A dialog that has the screen and the keys until it is closed. */
export type Dialog =
  | ChoiceDialog
  | TextDialog
  | (DialogText & {
      readonly kind: 'secret';
      readonly secret: TypedSecret;
      /** Whether Esc returns to the list of providers, from which the dialog was opened. */
      readonly hasList: boolean;
    })
  | (DialogText & { readonly kind: 'busy' });

/** Creates a choice whose first option is chosen. */
export function choiceDialog(
  text: Pick<ChoiceDialog, 'subject' | 'title' | 'lines' | 'options'>,
): ChoiceDialog {
  return { kind: 'choice', chosen: 0, filter: '', scroll: 0, ...text };
}

/** Creates a line to type. */
export function textDialog(text: Omit<TextDialog, 'kind' | 'problem'>): TextDialog {
  return { kind: 'text', problem: null, ...text };
}

/** The number of options from which what is typed narrows the list. */
const MIN_OPTIONS_TO_FILTER = 6;

/** Returns the options that fit what is typed. */
export function shownOptions({ options, filter }: ChoiceDialog): readonly DialogOption[] {
  const wanted = filter.toLowerCase();
  return options.filter(({ label, help }) => `${label} ${help}`.toLowerCase().includes(wanted));
}

export function takesFilter({ options }: ChoiceDialog): boolean {
  return options.length >= MIN_OPTIONS_TO_FILTER;
}

/** A key or a text that a dialog gets. */
export interface DialogInput {
  /** The name of the key; null for a pasted text. */
  readonly key: string | null;
  /** The text that the key types, or the pasted text; empty if it types none. */
  readonly text: string;
}
