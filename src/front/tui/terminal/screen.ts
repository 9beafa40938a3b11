import { standStill } from '../../../base/clock.ts';
import type { Bindings, Action } from '../model/key-bindings.ts';
import { readKey } from '../model/key-names.ts';
import type { Pen } from '../view/pen.ts';
import type { Background } from './terminal-replies.ts';
import { ListeningTerminal } from './listening-terminal.ts';
import { terminalText } from '../../../base/terminal-text.ts';

import {
  Editor,
  KeybindingsManager,
  parseKey,
  setKeybindings,
  TuiAltScreen,
  TUI_KEYBINDINGS,
  type AutocompleteProvider,
  type Component,
  type Keybinding,
  type KeyId,
  type Terminal,
  type TuiMouseEvent,
  type TuiMouseEventResult,
} from '@earendil-works/pi-tui';

export type { Terminal as TerminalDevice } from '@earendil-works/pi-tui';

export interface ScreenSize {
  readonly width: number;
  readonly height: number;
  readonly editor: readonly string[];
}

/** What a screen shows, and whom its keys are for. */
export interface ScreenClient {
  /** Exactly `height` lines, none wider than `width`. `editor`: as it draws itself. */
  draw(size: ScreenSize): readonly string[];
  /** A key, by name. True: it is taken, and not the editor's. */
  onKey(key: string): boolean;
  /** Lines, down where that is above 0. */
  onWheel(lines: number): void;
  onSubmit(text: string): void;
}

/** The lines that a turn of the mouse wheel moves. */
const WHEEL_LINES = 3;
const PASTE_BEGINS = '\u001b[200~';
const PASTE_ENDS = '\u001b[201~';

/**
 * The port around the library that draws: a full screen, of which only lines that have changed are written,
 * and an editor. Nothing else of Muster knows of it.
 */
export class Screen {
  readonly editor: Editor;
  private readonly tui: TuiAltScreen;
  private readonly terminal: ListeningTerminal;
  private hasStopped = false;

  constructor(
    terminal: Terminal,
    client: ScreenClient,
    {
      pen,
      bindings,
      cleanPaste,
      completions,
      onBackground,
    }: {
      readonly pen: Pen;
      readonly bindings: Bindings;
      /** Makes what is pasted harmless. */
      readonly cleanPaste: (text: string) => string;
      readonly completions: AutocompleteProvider;
      /** What the terminal says of its background, once it was asked. */
      readonly onBackground: (background: Background) => void;
    },
  ) {
    leaveKeysToUs(bindings);
    this.terminal = new ListeningTerminal(terminal, onBackground);
    this.tui = new TuiAltScreen(this.terminal, false, undefined, { wheelScrollLines: WHEEL_LINES });
    this.editor = new Editor(this.tui, editorTheme(pen), { autocompleteMaxVisible: 6 });
    this.editor.onSubmit = (text) => client.onSubmit(text);
    this.editor.setAutocompleteProvider(completions);
    const root = new Root(this.editor, client, () => ({ height: terminal.rows }));
    this.tui.addChild(root);
    this.tui.setFocus(root);
    this.tui.addInputListener((data) => {
      if (data.startsWith(PASTE_BEGINS)) {
        const end = data.endsWith(PASTE_ENDS) ? -PASTE_ENDS.length : undefined;
        const pasted = cleanPaste(data.slice(PASTE_BEGINS.length, end));
        return { data: `${PASTE_BEGINS}${pasted}${PASTE_ENDS}` };
      }
      const key = parseKey(data);
      if (key === undefined || !client.onKey(key)) return { data: withoutControls(data) };
      this.draw();
      return { consume: true };
    });
  }

  start(): void {
    this.tui.start();
  }

  /** Gives the terminal back for a while, see `resume`. */
  suspend(): void {
    this.tui.stop({ preserveScreen: true });
  }

  /** Takes the terminal again, and draws everything anew; nothing once it was given back for good. */
  resume(): void {
    if (this.hasStopped) return;
    // In the background it is stopped there once more.
    standStill(awaitForeground);
    this.tui.start();
    this.redraw();
  }

  /** Soon, and once for all that asked for it. */
  draw(): void {
    this.tui.requestRender();
  }

  /** Asks the terminal how bright it is; nothing waits for that. */
  askBackground(): void {
    this.terminal.askBackground();
  }

  /** Whether somebody looks at the terminal; null: it does not tell. */
  get isFocused(): boolean | null {
    return this.terminal.isFocused;
  }

  /** To the terminal itself, and not onto the screen. */
  call(sequence: string): void {
    if (sequence !== '') this.terminal.write(sequence);
  }

  redraw(): void {
    this.tui.requestRender(true);
  }

  /** Gives the terminal back as it was, with nothing of the screen left on it. */
  async stop(): Promise<void> {
    this.hasStopped = true;
    await this.terminal.drainInput(200, 20);
    this.tui.stop({ preserveScreen: true });
  }

  /** At once, where the process is about to end. */
  stopNow(): void {
    this.hasStopped = true;
    this.tui.stop({ preserveScreen: true });
  }
}

/**
 * In the background (`bg`) the system stops whoever sets up the terminal, until `fg`: better before anything is
 * drawn where the shell writes.
 */
function awaitForeground(): void {
  const { stdin } = process;
  if (!stdin.isTTY) return;
  stdin.setRawMode(true);
  stdin.setRawMode(false);
}

/** The picture as a component; what it does not take of the keys, the editor gets. */
class Root implements Component {
  private isFocused = false;
  private readonly editor: Editor;
  private readonly client: ScreenClient;
  private readonly size: () => { readonly height: number };

  constructor(editor: Editor, client: ScreenClient, size: () => { readonly height: number }) {
    this.editor = editor;
    this.client = client;
    this.size = size;
  }

  get focused(): boolean {
    return this.isFocused;
  }

  set focused(value: boolean) {
    this.isFocused = value;
    this.editor.focused = value;
  }

  render(width: number): string[] {
    const { height } = this.size();
    return [...this.client.draw({ width, height, editor: this.editor.render(width) })];
  }

  handleInput(data: string): void {
    this.editor.handleInput(data);
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    if (event.type !== 'wheel') return undefined;
    this.client.onWheel(event.wheelDelta ?? 0);
    return { handled: true };
  }

  invalidate(): void {
    this.editor.invalidate();
  }
}

/** What is typed without being a key: the editor shows it as it is, and some of these steer a terminal. */
function withoutControls(data: string): string {
  return data.replaceAll(/[\u0080-\u009f]/g, '');
}

/** Its own keys for scrolling and searching would be taken before ours, and the user's are its, too. */
function leaveKeysToUs(bindings: Bindings): void {
  const ours = Object.keys(TUI_KEYBINDINGS).filter((name) => name.startsWith('tui.altScreen.'));
  const none = Object.fromEntries(ours.map((name) => [name, []]));
  const own = Object.entries(LIBRARY_NAMES).map(([name, action]) => [
    name,
    bindings[action].keys.filter(isKeyId),
  ]);
  setKeybindings(new KeybindingsManager(TUI_KEYBINDINGS, { ...none, ...Object.fromEntries(own) }));
}

function isKeyId(key: string): key is KeyId {
  return readKey(key) === key;
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

/** What the library's editor does, by its names, and our name for it. */
const LIBRARY_NAMES: Readonly<Partial<Record<Keybinding, Action>>> = {
  'tui.input.submit': 'send',
  'tui.input.newLine': 'new-line',
  'tui.input.tab': 'complete',
  'tui.editor.cursorUp': 'cursor-up',
  'tui.editor.cursorDown': 'cursor-down',
  'tui.editor.cursorLeft': 'cursor-left',
  'tui.editor.cursorRight': 'cursor-right',
  'tui.editor.cursorWordLeft': 'word-left',
  'tui.editor.cursorWordRight': 'word-right',
  'tui.editor.cursorLineStart': 'line-start',
  'tui.editor.cursorLineEnd': 'line-end',
  'tui.editor.jumpForward': 'jump-forward',
  'tui.editor.jumpBackward': 'jump-backward',
  'tui.editor.deleteCharBackward': 'delete-back',
  'tui.editor.deleteCharForward': 'delete-forward',
  'tui.editor.deleteWordBackward': 'delete-word-back',
  'tui.editor.deleteWordForward': 'delete-word-forward',
  'tui.editor.deleteToLineStart': 'delete-to-start',
  'tui.editor.deleteToLineEnd': 'delete-to-end',
  'tui.editor.yank': 'yank',
  'tui.editor.yankPop': 'yank-pop',
  'tui.editor.undo': 'undo-typing',
  'tui.editor.historyPrevious': 'history-previous',
  'tui.editor.historyNext': 'history-next',
  'tui.select.up': 'completion-up',
  'tui.select.down': 'completion-down',
  'tui.select.confirm': 'completion-take',
  'tui.select.cancel': 'completion-close',
};

/**
 * What a terminal hands over as pasted, as text with its lines: most terminals send a carriage return for the
 * end of a line, and some write control characters as keys (`ESC [ 106 ; 5 u` for a newline).
 */
export function pastedText(sent: string): string {
  const decoded = sent.replaceAll(KEY_OF_CONTROL, (whole, digits: string) => {
    const letter = String.fromCodePoint(Number(digits)).toLowerCase();
    return /^[a-z]$/.test(letter) ? String.fromCodePoint(letter.charCodeAt(0) - 0x60) : whole;
  });
  return terminalText(decoded.replaceAll(/\r\n?/g, '\n'), 'prose');
}

// oxlint-disable-next-line no-control-regex -- what is decoded
const KEY_OF_CONTROL = /\u001b\[(\d{2,3});5u/g;
