import {
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
import type { Pen } from '../view/pen.ts';
import { TerminalReports, type Background } from './terminal-replies.ts';

export type { Terminal as TerminalDevice } from '@earendil-works/pi-tui';

export interface ScreenSize {
  readonly width: number;
  readonly height: number;
  /** The lines of the editor, as it draws itself. */
  readonly editor: readonly string[];
}

export interface ScreenOptions {
  readonly pen: Pen;
  readonly bindings: Bindings;
  readonly completions: AutocompleteProvider;
  /** Returns exactly `height` lines, none wider than `width`. */
  readonly draw: (size: ScreenSize) => readonly string[];
  /** Handles a key by its name. Returns false if the key is the editor's. */
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

/** The number of lines that one turn of the mouse wheel scrolls. */
const WHEEL_LINES = 3;
const PASTE_START = '\u001b[200~';
const PASTE_END = '\u001b[201~';
/** A process that can be suspended is suspended within this time. */
const SUSPENDED_WITHIN_MS = 100;

/**
 * The adapter to the library that draws: a full screen of which only the changed lines are written, and an editor.
 * No other file uses these two.
 */
export class Screen {
  readonly editor: Editor;
  private readonly tui: TuiAltScreen;
  /** Reads what the terminal says about itself. */
  readonly reports: TerminalReports;
  private hasStopped = false;

  constructor(terminal: Terminal, options: ScreenOptions) {
    const { pen, bindings, completions, onKey, onPaste, onBackground } = options;
    takeKeysFromLibrary(bindings);
    this.reports = new TerminalReports(terminal, onBackground);
    this.tui = new TuiAltScreen(this.reports.terminal, false, undefined, {
      wheelScrollLines: WHEEL_LINES,
    });
    this.editor = new Editor(this.tui, editorTheme(pen), { autocompleteMaxVisible: 6 });
    this.editor.onSubmit = options.onSubmit;
    this.editor.onChange = options.onTyped;
    this.editor.setAutocompleteProvider(completions);
    const root = createRoot(this.editor, options, terminal);
    this.tui.addChild(root);
    this.tui.setFocus(root);
    this.tui.addInputListener((data) => {
      if (data.startsWith(PASTE_START)) {
        const end = data.endsWith(PASTE_END) ? -PASTE_END.length : undefined;
        const pasted = onPaste(data.slice(PASTE_START.length, end));
        return { data: `${PASTE_START}${pasted}${PASTE_END}` };
      }
      const key = parseKey(data);
      if (key === undefined || !onKey(key)) return { data: withoutControls(data) };
      this.draw();
      return { consume: true };
    });
  }

  start(): void {
    this.tui.start();
  }

  /**
   * Gives the terminal to the shell until `fg`: the process is suspended with all its tasks. Without a shell that
   * has job control nobody can suspend it, and the screen returns at once.
   */
  suspend(): void {
    this.tui.stop({ preserveScreen: true });
    printText('Muster and all its tasks are suspended: type fg to continue.\n');
    const resume = (): void => {
      clearTimeout(timer);
      process.off('SIGCONT', resume);
      // A signal that ends the process may come with this one (`kill %1`) and has to be handled first.
      setImmediate(() => this.resume());
    };
    process.once('SIGCONT', resume);
    const timer = setTimeout(resume, SUSPENDED_WITHIN_MS);
    // The signal goes to the complete job, as from a terminal: a program that started this one (npm) waits as well.
    // No time limit runs out meanwhile, so that all calls and tasks are still at work afterwards.
    pauseClockDuring(() => process.kill(0, 'SIGTSTP'));
  }

  private resume(): void {
    if (this.hasStopped) return;
    // A process in the background (`bg`) is suspended here once more.
    pauseClockDuring(awaitForeground);
    this.tui.start();
    this.redraw();
  }

  /** Asks for a frame soon; several requests make one frame. */
  draw(): void {
    this.tui.requestRender();
  }

  /** Writes all lines again. */
  redraw(): void {
    this.tui.requestRender(true);
  }

  /** Gives the terminal back as it was, with nothing of the screen left on it. */
  async stop(): Promise<void> {
    this.hasStopped = true;
    await this.reports.terminal.drainInput(200, 20);
    this.tui.stop({ preserveScreen: true });
  }

  /** Gives the terminal back at once, because the process is about to end. */
  stopNow(): void {
    this.hasStopped = true;
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

/** Makes the one component on the screen. The keys that it does not take go to the editor. */
function createRoot(
  editor: Editor,
  { draw, onWheel }: Pick<ScreenOptions, 'draw' | 'onWheel'>,
  terminal: Terminal,
): Component & Focusable {
  return {
    get focused() {
      return editor.focused;
    },
    set focused(value) {
      editor.focused = value;
    },
    render: (width) => [...draw({ width, height: terminal.rows, editor: editor.render(width) })],
    handleInput: (data) => editor.handleInput(data),
    handleMouse(event) {
      if (event.type !== 'wheel') return undefined;
      onWheel(event.wheelDelta ?? 0);
      return { handled: true };
    },
    invalidate: () => editor.invalidate(),
  };
}

/** Removes characters that are no key and control a terminal; the editor would show them as they are. */
function withoutControls(data: string): string {
  return data.replaceAll(/[\u0080-\u009f]/g, '');
}

// oxlint-disable-next-line no-control-regex -- this is the sequence to decode
const CONTROL_KEY = /\u001b\[(\d{2,3});5u/g;

/**
 * The text of a paste with its lines. Most terminals send a carriage return for the end of a line, and some write
 * control characters as keys (`ESC [ 106 ; 5 u` for a newline).
 */
export function pastedText(sent: string): string {
  const decoded = sent.replaceAll(CONTROL_KEY, (sequence, digits: string) => {
    const letter = String.fromCodePoint(Number(digits)).toLowerCase();
    return /^[a-z]$/.test(letter) ? String.fromCodePoint(letter.charCodeAt(0) - 0x60) : sequence;
  });
  return sanitizeForTerminal(decoded.replaceAll(/\r\n?/g, '\n'), 'prose');
}

/** Removes the library's own keys for scrolling and searching, and gives its editor the keys of our bindings. */
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
