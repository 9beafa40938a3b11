import { lazy } from './lazy.ts';
import { truncate } from './text.ts';

/**
 * The way in which outside text is made harmless for a terminal:
 * - `prose`: for answers and messages. Escape sequences and control characters are dropped. Characters that
 * hide or reorder text are shown as `⟨U+202E⟩`, but joiners that scripts and emoji need are kept.
 * - `exact`: for commands, paths, and errors that quote them. Nothing is dropped; every character is shown.
 * - `plain`: for programs and models. Like `prose`, but only sequences and control characters are dropped;
 * carriage returns are kept.
 */
export type TerminalContext = 'prose' | 'exact' | 'plain';

/** The maximum lengths of escape sequences. The characters after this length are text again. */
const MAX_CSI_CHARS = 64;
const MAX_STRING_CHARS = 4_096;

const TAB = 0x09;
const NEWLINE = 0x0a;
const BACKSPACE = 0x08;
const RETURN = 0x0d;
const ESCAPE = 0x1b;
const BELL = 0x07;
const CANCEL = 0x18;
const SUBSTITUTE = 0x1a;
const STRING_END = 0x9c;

/** Direction marks, tags and line separators, which make a text look different from its content. */
const REORDERING = lazy(
  () => /^[\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb\u{e0000}-\u{e007f}]$/u,
);
/** Joiners and variation selectors, which are invisible but needed in some scripts and emoji. */
const JOINERS = lazy(() => /^(?:\u200c|\u200d|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}])$/u);
const INVISIBLE = lazy(() => /^[\p{DI}\u2800]$/u);
const KEY_CAP = /^[0-9#*]$/;

type State =
  /** Text. */
  | 'ground'
  /** After ESC, and after its intermediates. */
  | 'escape'
  | 'intermediate'
  /** After CSI. */
  | 'csi'
  /** In OSC, DCS, SOS, PM or APC, and after an ESC in one of them. */
  | 'string'
  | 'string-escape';

/**
 * The only sanitizer of terminal output: a state machine for a stream, so that a sequence may be split between
 * chunks. The output contains no C0 characters (except tab and newline, and with `plain` carriage return), no DEL,
 * no C1 characters and no lone surrogates. A sequence without an end removes at most the rest of its line, and at
 * most a fixed number of characters.
 */
export class TerminalSanitizer {
  private readonly context: TerminalContext;
  private state: State = 'ground';
  /** The number of characters of the current sequence that have been read. */
  private length = 0;
  /** The first half of a character at the end of a chunk. */
  private highSurrogate = '';
  /** True after a carriage return, which is written only when the next character is known not to be a newline. */
  private hasPendingReturn = false;
  /** True if a joiner may come next: after a letter that is not ASCII, or an emoji. */
  private mayJoin = false;
  /** True after a digit, `#` or `*`, which a variation selector turns into a key cap. */
  private mayBeKeyCap = false;

  constructor(context: TerminalContext) {
    this.context = context;
  }

  write(chunk: string): string {
    const pending = this.highSurrogate + chunk;
    const isSplit = /[\ud800-\udbff]$/.test(pending);
    this.highSurrogate = isSplit ? pending.slice(-1) : '';
    const writeText = isSplit ? pending.slice(0, -1) : pending;
    let clean = '';
    for (const character of writeText) clean += this.take(character);
    return clean;
  }

  /** Returns the characters that were held back at the end of the last chunk. */
  end(): string {
    const isSplit = this.highSurrogate !== '';
    this.highSurrogate = '';
    const rest = isSplit ? this.take('\ufffd') : '';
    const last = this.flushReturn();
    this.state = 'ground';
    return rest + last;
  }

  private take(character: string): string {
    const code = character.codePointAt(0) ?? 0;
    if (this.context === 'exact') return this.text(character, code);
    switch (this.state) {
      case 'ground':
        return this.text(character, code);
      case 'escape':
      case 'intermediate':
        return this.afterEscape(character, code);
      case 'csi':
        return this.inCsi(character, code);
      case 'string':
      case 'string-escape':
        return this.inString(character, code);
      default:
        return this.state satisfies never;
    }
  }

  private text(character: string, code: number): string {
    if (code === NEWLINE && this.hasPendingReturn) {
      this.hasPendingReturn = false;
      return this.context === 'exact' ? '␍\n' : '\n';
    }
    const before = this.flushReturn();
    return (
      before + (isControl(code) ? this.writeControl(code) : this.writeVisible(character, code))
    );
  }

  private writeControl(code: number): string {
    this.mayJoin = false;
    this.mayBeKeyCap = false;
    if (code === TAB || code === NEWLINE) return String.fromCharCode(code);
    if (code === RETURN) {
      if (this.context === 'plain') return '\r';
      this.hasPendingReturn = true;
      return '';
    }
    if (this.context === 'exact') return code === BACKSPACE ? '␈' : showCodePoint(code);
    if (code === BACKSPACE) return this.context === 'prose' ? '␈' : '';
    this.beginSequence(code);
    return '';
  }

  /** Begins the escape sequence of a C0 or C1 control. A control that begins no sequence is dropped alone. */
  private beginSequence(code: number): void {
    this.length = 0;
    if (code === ESCAPE) this.state = 'escape';
    else if (code === 0x9b) this.state = 'csi';
    else if (isStringStart(code)) this.state = 'string';
  }

  private writeVisible(character: string, code: number): string {
    const wasKeyCap = this.mayBeKeyCap;
    this.mayBeKeyCap = KEY_CAP.test(character);
    if (code < 0x80) {
      this.mayJoin = false;
      return character;
    }
    if (code >= 0xd800 && code <= 0xdfff) {
      this.mayJoin = false;
      return '\ufffd';
    }
    if (this.context === 'plain') return character;
    if (JOINERS().test(character)) {
      const fits = this.mayJoin || (wasKeyCap && code === 0xfe0f);
      const stays = this.context === 'prose' && fits;
      // A joiner may follow a variation selector. After a joiner, a second joiner or selector has no visible effect.
      this.mayJoin &&= code >= 0xfe00 && code <= 0xfe0f;
      return stays ? character : showCodePoint(code);
    }
    this.mayJoin = !INVISIBLE().test(character);
    return REORDERING().test(character) || !this.mayJoin ? showCodePoint(code) : character;
  }

  private flushReturn(): string {
    if (!this.hasPendingReturn) return '';
    this.hasPendingReturn = false;
    return '␍';
  }

  private afterEscape(character: string, code: number): string {
    if (code >= 0x20 && code <= 0x2f) {
      this.length += 1;
      this.state = this.length < MAX_CSI_CHARS ? 'intermediate' : 'ground';
      return '';
    }
    const { state } = this;
    this.state = 'ground';
    if (code < 0x30 || code > 0x7e) return this.take(character);
    // ESC and a letter stand for the C1 control 0x40 above it.
    if (state === 'escape') this.beginSequence(code + 0x40);
    return '';
  }

  private inCsi(character: string, code: number): string {
    this.length += 1;
    if (code >= 0x20 && code <= 0x3f && this.length < MAX_CSI_CHARS) return '';
    this.state = 'ground';
    return code >= 0x40 && code <= 0x7e ? '' : this.take(character);
  }

  private inString(character: string, code: number): string {
    this.length += 1;
    if (this.state === 'string-escape') {
      this.state = 'ground';
      // ESC \ ends the string; ESC before another character begins a new sequence.
      return character === '\\' ? '' : this.resume(character);
    }
    if (code === ESCAPE) {
      this.state = 'string-escape';
      return '';
    }
    const ends = code === BELL || code === STRING_END || code === CANCEL || code === SUBSTITUTE;
    if (ends) this.state = 'ground';
    if (ends || (code !== NEWLINE && this.length < MAX_STRING_CHARS)) return '';
    this.state = 'ground';
    return this.take(character);
  }

  private resume(character: string): string {
    this.beginSequence(ESCAPE);
    return this.take(character);
  }
}

/** Makes a complete text harmless for a terminal. */
export function sanitizeForTerminal(text: string, context: TerminalContext): string {
  if (HARMLESS[context].test(text)) return text;
  const machine = new TerminalSanitizer(context);
  return machine.write(text) + machine.end();
}

/**
 * Shows a command or path on one line, with every character visible. Line ends are replaced, so that no part of
 * the text can look like a line that Muster wrote.
 */
export function sanitizeLine(text: string): string {
  return sanitizeForTerminal(text, 'exact').replaceAll('\n', '␊');
}

const MAX_QUOTED_NAME_LENGTH = 80;

/**
 * Lists names from outside on one line, each with at most 80 characters.
 *
 * @param maxNames the maximum number of names; the others are counted
 */
export function listNamesOnOneLine(names: readonly string[], maxNames: number): string {
  const shown = names
    .slice(0, maxNames)
    .map((name) =>
      truncate(sanitizeLine(name.slice(0, MAX_QUOTED_NAME_LENGTH * 2)), MAX_QUOTED_NAME_LENGTH),
    );
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}

/** Matches most texts: Latin letters, and signs such as quotation marks, bullets and arrows. */
const PLAIN_LETTERS = /^[\t\n\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u27ff]*$/;
const HARMLESS: Readonly<Record<TerminalContext, RegExp>> = {
  prose: PLAIN_LETTERS,
  exact: PLAIN_LETTERS,
  plain: /^[\t\n\r\u0020-\u007e\u00a0-\ud7ff\ue000-\uffff]*$/,
};

function isControl(code: number): boolean {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f);
}

/** Tells whether a C1 control is DCS, SOS, OSC, PM or APC. */
function isStringStart(code: number): boolean {
  return code === 0x90 || code === 0x98 || (code >= 0x9d && code <= 0x9f);
}

function showCodePoint(code: number): string {
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}
