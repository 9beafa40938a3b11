import {
  decodeKittyPrintable,
  Editor,
  KeybindingsManager,
  parseKey,
  setKeybindings,
  TuiAltScreen,
  TUI_KEYBINDINGS,
  type AutocompleteProvider,
  type Component,
  type Focusable,
  type KeyId,
  type Terminal,
} from '@earendil-works/pi-tui';
import { pauseClockDuring } from '../../../base/clock.ts';
import { sanitizeForTerminal } from '../../../base/terminal-text.ts';
import { printText } from '../../../sys/print.ts';
import type { Bindings } from '../model/key-bindings.ts';
import { keyFromText } from '../model/key-names.ts';
import type { DialogInput } from '../model/dialog.ts';
import type { Pen } from '../view/pen.ts';
import { TerminalReports, type Background } from './terminal-replies.ts';

export type { Terminal as TerminalDevice } from '@earendil-works/pi-tui';

export interface ScreenSize {
  readonly width: number;
  readonly height: number;
  /** The lines of the editor, which draws itself. */
  readonly editor: readonly string[];
}

export interface ScreenOptions {
  readonly pen: Pen;
  readonly bindings: Bindings;
  readonly completions: AutocompleteProvider;
  /** Returns exactly `height` lines, none wider than `width`. */
  readonly draw: (size: ScreenSize) => readonly string[];
  /** Whether a dialog takes all keys. */
  readonly isDialogOpen: () => boolean;
  readonly onDialogInput: (input: DialogInput) => void;
  /** Handles a key, given by its name. Returns false if the editor has to handle it. */
  readonly onKey: (key: string) => boolean;
  /** Called with the number of lines to scroll, down for a positive number. */
  readonly onWheel: (lines: number) => void;
  /** Called with each new text of the editor. */
  readonly onTyped: (text: string) => void;
  readonly onSubmit: (text: string) => void;
  /** Returns the text to insert for a paste. */
  readonly onPaste: (text: string) => string;
  /** Called with the background that the terminal reports after `askBackground`. */
  readonly onBackground: (background: Background) => void;
}

/** The number of completions in view. */
const MAX_COMPLETIONS = 6;
/** The number of lines that one turn of the mouse wheel scrolls. */
const WHEEL_LINES = 3;
const UP = '\u001b[A';
const DOWN = '\u001b[B';
const END = '\u001b[F';
const PASTE_START = '\u001b[200~';
const PASTE_END = '\u001b[201~';
/** The time within which the shell suspends the process. If it has not happened by then, nothing can suspend the process. */
const SUSPENDED_WITHIN_MS = 100;

/**
 * Adapts the terminal library, which draws a full screen by writing only the changed lines, and an editor. No other
 * file uses these two parts of the library.
 */
export class Screen {
  readonly editor: Editor;
  private readonly tui: TuiAltScreen;
  /** Reads the reports of the terminal about itself. */
  readonly reports: TerminalReports;
  private hasStopped = false;
  private isTerminalLent = false;

  constructor(terminal: Terminal, options: ScreenOptions) {
    const { pen, bindings, completions, onKey, onPaste, onBackground } = options;
    takeKeysFromLibrary(bindings);
    this.reports = new TerminalReports(terminal, onBackground);
    this.tui = new TuiAltScreen(this.reports.terminal, false, undefined, {
      wheelScrollLines: WHEEL_LINES,
    });
    this.editor = new Editor(this.tui, editorTheme(pen), {
      autocompleteMaxVisible: MAX_COMPLETIONS,
    });
    this.editor.onSubmit = options.onSubmit;
    this.editor.onChange = options.onTyped;
    this.editor.setAutocompleteProvider(completions);
    const root = createRoot(this.editor, options, terminal);
    this.tui.addChild(root);
    this.tui.setFocus(root);
    this.tui.addInputListener((data) => {
      if (options.isDialogOpen()) {
        options.onDialogInput(dialogInput(data));
        this.draw();
        return { consume: true };
      }
      if (data.startsWith(PASTE_START)) {
        const end = data.endsWith(PASTE_END) ? -PASTE_END.length : undefined;
        const pasted = onPaste(data.slice(PASTE_START.length, end));
        return { data: `${PASTE_START}${pasted}${PASTE_END}` };
      }
      const key = keyName(data);
      if (key === undefined || !onKey(key)) return { data: withoutControls(data) };
      this.draw();
      return { consume: true };
    });
  }

  start(): void {
    this.tui.start();
  }

  /**
   * Gives the terminal to the shell until the user types `fg`. The process is suspended with all its tasks. If the shell
   * has no job control, the process cannot be suspended, and the screen returns at once.
   */
  suspend(): void {
    this.tui.stop({ preserveScreen: true });
    printText('Muster and all its tasks are suspended: type fg to continue.\n');
    const resume = (): void => {
      clearTimeout(timer);
      process.off('SIGCONT', resume);
      // `kill %1` sends a signal that ends the process together with SIGCONT. That signal has to be handled first.
      setImmediate(() => this.resume());
    };
    process.once('SIGCONT', resume);
    const timer = setTimeout(resume, SUSPENDED_WITHIN_MS);
    // The signal is sent to the complete job, as a terminal does, so that a program that started this one (such as npm)
    // is suspended, too. The clock is paused, so that no time limit of a call or task is reached meanwhile.
    pauseClockDuring(() => process.kill(0, 'SIGTSTP'));
  }

  private resume(): void {
    if (this.hasStopped) return;
    // If the user typed `bg`, the process is in the background, and this suspends it again until `fg`.
    pauseClockDuring(awaitForeground);
    this.tui.start();
    this.redraw();
  }

  /** Selects the completion that is a page further down (1) or up (-1). Does nothing if none are offered. */
  pageCompletions(by: 1 | -1): void {
    // The library's list has only keys for single steps, and starts again after its last item.
    for (let step = 1; step < MAX_COMPLETIONS && this.editor.isShowingAutocomplete(); step += 1) {
      this.editor.handleInput(by > 0 ? DOWN : UP);
    }
  }

  /** Whether another program has the terminal, so that nothing may be drawn and Ctrl+C is meant for that program. */
  get isLent(): boolean {
    return this.isTerminalLent;
  }

  /** Gives the terminal to a program while `use` runs. The tasks go on meanwhile. */
  readonly lend = async <Result>(use: () => Promise<Result>): Promise<Result> => {
    this.isTerminalLent = true;
    this.tui.stop({ preserveScreen: true });
    // Keys of the other program arrive as signals as well, because it is in the same process group.
    const ignore = (): void => {};
    process.on('SIGQUIT', ignore);
    try {
      return await use();
    } finally {
      process.off('SIGQUIT', ignore);
      this.isTerminalLent = false;
      if (!this.hasStopped) {
        this.tui.start();
        this.redraw();
      }
    }
  };

  /** Requests a frame soon. Several requests make one frame. */
  draw(): void {
    if (this.isTerminalLent) return;
    this.tui.requestRender();
  }

  /** Writes all lines again. */
  redraw(): void {
    if (this.isTerminalLent) return;
    this.tui.requestRender(true);
  }

  /** Gives the terminal back in its state before the start, without any line of the screen. */
  async stop(): Promise<void> {
    this.hasStopped = true;
    if (this.isTerminalLent) return;
    await this.reports.terminal.drainInput(200, 20);
    this.tui.stop({ preserveScreen: true });
  }

  /** Gives the terminal back at once, because the process is about to end. */
  stopNow(): void {
    this.hasStopped = true;
    if (this.isTerminalLent) return;
    this.tui.stop({ preserveScreen: true });
  }
}

/**
 * Waits until the process is in the foreground. The system suspends a background process that sets up the terminal,
 * which must happen before anything is drawn where the shell writes.
 */
function awaitForeground(): void {
  const { stdin } = process;
  if (!stdin.isTTY) return;
  stdin.setRawMode(true);
  stdin.setRawMode(false);
}

/** Creates the only component of the screen. It passes keys on to the editor. */
function createRoot(
  editor: Editor,
  { draw, onWheel, completions }: Pick<ScreenOptions, 'draw' | 'onWheel' | 'completions'>,
  terminal: Terminal,
): Component & Focusable {
  return {
    get focused() {
      return editor.focused;
    },
    set focused(value) {
      editor.focused = value;
    },
    render: (width) => {
      const drawn = editor.render(width).map(withPasteSizes);
      return [...draw({ width, height: terminal.rows, editor: drawn })];
    },
    handleInput(data) {
      const before = editor.getText();
      editor.handleInput(data);
      closeOldCompletions(editor, { before, key: parseKey(data) }, completions);
      // The library puts the cursor before a message that ↑ recalls, where nobody goes on typing. Before several lines it
      // stays, so that ↑ goes on to the next message.
      const after = editor.getText();
      if (parseKey(data) === 'up' && after !== before && !after.includes('\n')) {
        editor.handleInput(END);
      }
    },
    handleMouse(event) {
      if (event.type !== 'wheel') return undefined;
      onWheel(event.wheelDelta ?? 0);
      return { handled: true };
    },
    invalidate: () => editor.invalidate(),
  };
}

/**
 * Closes the completions after a key that deletes a word or a line. The library leaves them open, although they belong
 * to the text before. `before` is the text before the key.
 */
function closeOldCompletions(
  editor: Editor,
  { before, key }: { readonly before: string; readonly key: string | undefined },
  completions: AutocompleteProvider,
): void {
  const isDeleted = editor.getText().length < before.length;
  if (!isDeleted || key === 'backspace' || key === 'delete') return;
  // The library has no other way to close them.
  if (editor.isShowingAutocomplete()) editor.setAutocompleteProvider(completions);
}

/** Changes the marks of pastes in a drawn line from `+82 lines` to `: 82 lines`, which is as wide and means the same to everybody. */
function withPasteSizes(line: string): string {
  return line.replaceAll(/(\[paste #\d+) \+(\d+ lines\])/g, '$1: $2');
}

/** Returns the name of the key that sent these characters. A capital letter is the letter with shift. */
function keyName(data: string): string | undefined {
  const key = parseKey(data);
  return key !== undefined && /^[A-Z]$/.test(key) ? `shift+${key.toLowerCase()}` : key;
}

/** Removes control characters that no key sends, because the editor would write them to the terminal unchanged. */
function withoutControls(data: string): string {
  return data.replaceAll(/[\u0080-\u009f]/g, '');
}

/** Whether a text has no control characters, which are keys and no text. */
function isPrintable(text: string): boolean {
  return sanitizeForTerminal(text, 'prose') === text && !/[\n\t]/.test(text);
}

/** Reads a key or a paste for a dialog. */
function dialogInput(data: string): DialogInput {
  if (data.startsWith(PASTE_START)) {
    const end = data.endsWith(PASTE_END) ? -PASTE_END.length : undefined;
    return { key: null, text: pastedText(data.slice(PASTE_START.length, end)).trim() };
  }
  const key = parseKey(data) ?? null;
  const text = decodeKittyPrintable(data) ?? data;
  return { key, text: isPrintable(text) ? text : '' };
}

// oxlint-disable-next-line no-control-regex -- this is the sequence to decode
const CONTROL_KEY = /\u001b\[(\d{2,3});5u/g;

/**
 * Converts a paste to text with newlines. Most terminals send a carriage return at the end of a line, and some send
 * control characters as keys (`ESC [ 106 ; 5 u` for a newline).
 */
export function pastedText(sent: string): string {
  const decoded = sent.replaceAll(CONTROL_KEY, (sequence, digits: string) => {
    const letter = String.fromCodePoint(Number(digits)).toLowerCase();
    return /^[a-z]$/.test(letter) ? String.fromCodePoint(letter.charCodeAt(0) - 0x60) : sequence;
  });
  return sanitizeForTerminal(decoded.replaceAll(/\r\n?/g, '\n'), 'prose');
}

/** Removes the library's own keys for scrolling and searching, and sets the keys of its editor to those of `bindings`. */
function takeKeysFromLibrary(bindings: Bindings): void {
  const removed = Object.keys(TUI_KEYBINDINGS)
    .filter((name) => name.startsWith('tui.altScreen.'))
    .map((name) => [name, []]);
  const own = Object.values(bindings).flatMap(({ editorAction, keys }) =>
    editorAction === undefined ? [] : [[editorAction, keys.filter(isKeyId)]],
  );
  setKeybindings(new KeybindingsManager(TUI_KEYBINDINGS, Object.fromEntries([...removed, ...own])));
}

function isKeyId(key: string): key is KeyId {
  return keyFromText(key) === key;
}

function editorTheme(pen: Pen) {
  const as = (role: Parameters<Pen['paint']>[0]) => (text: string) => pen.paint(role, text);
  return {
    borderColor: as('dim'),
    selectList: {
      selectedPrefix: as('accent'),
      selectedText: as('accent'),
      description: as('dim'),
      scrollInfo: as('dim'),
      noMatch: as('dim'),
    },
  };
}
