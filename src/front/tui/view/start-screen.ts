import { stripVTControlCharacters } from 'node:util';
import type { SandboxState } from '../../../api/index.ts';
import { sanitizeLine } from '../../../base/terminal-text.ts';
import { VERSION } from '../../../base/version.ts';
import type { EarlierConversations } from '../model/app-state.ts';
import type { LibraryInfo } from '../model/ui-library.ts';
import { fitLine, wrapText } from './fit.ts';
import { mainModel } from './main-model.ts';
import type { Pen } from './pen.ts';

/** The facts on the start screen. */
export interface StartInfo {
  readonly library: LibraryInfo;
  /** The result of the sandbox test; null until the test has ended. A text is shown unchanged. */
  readonly sandbox: SandboxState | string | null;
  /** Messages of the start, one line each. */
  readonly notices: readonly string[];
  /** The earlier conversations; null if nothing is said about them. */
  readonly earlier: EarlierConversations | null;
}

/** Draws the start screen: the facts about the session, and what is missing, with the way to get it. */
export function startScreen(
  { library, sandbox, notices, earlier }: StartInfo,
  width: number,
  pen: Pen,
): readonly string[] {
  const model = mainModel(library);
  const missing = [...model.missing, ...missingSandbox(sandbox), ...notices];
  const hint = pen.prose('dim', 'Type what you want done. /help lists commands and keys.');
  return [
    fitLine(`${pen.prose('strong', 'Muster')} ${pen.prose('dim', VERSION)}`, width),
    '',
    ...factLines('directory', library.cwd, width, pen),
    ...factLines('model', model.name, width, pen),
    ...factLines('sandbox', sandboxText(sandbox), width, pen),
    ...factLines('agents', agentsText(library), width, pen),
    ...(missing.length === 0 ? [] : ['']),
    ...missing.flatMap((line) =>
      wrapText(pen.exact('warn', line), width - 2, '').map(
        (each, index) => `${index === 0 ? pen.paint('warn', '!') : ' '} ${each}`,
      ),
    ),
    '',
    ...wrapText(hint, width, ''),
    ...(earlier === null ? [] : wrapText(pen.prose('dim', earlierText(earlier, width)), width, '')),
  ];
}

/** The minimum number of columns for a title, without which it says too little. */
const MIN_TITLE = 12;

/** Says how an earlier conversation is continued, on one line of this width if it is not very narrow. */
export function earlierText({ count, title, age }: EarlierConversations, width: number): string {
  const [begin, end] = ['/resume continues “', `” (${age})${othersText(count)}`];
  const room = width - begin.length - end.length;
  if (title !== '' && room >= MIN_TITLE)
    return `${begin}${stripVTControlCharacters(fitLine(sanitizeLine(title), room))}${end}`;
  return `/resume continues ${count === 1 ? 'an earlier conversation' : `one of ${count} conversations`}`;
}

function othersText(count: number): string {
  return count === 1 ? '' : ` or ${count === 2 ? 'another one' : `one of ${count - 1} others`}`;
}

const NAME_WIDTH = 11;

function factLines(name: string, value: string, width: number, pen: Pen): readonly string[] {
  const label = pen.prose('dim', name.padEnd(NAME_WIDTH));
  const lines = wrapText(pen.exact('text', value), width - NAME_WIDTH, '');
  return lines.map((line, index) => `${index === 0 ? label : ' '.repeat(NAME_WIDTH)}${line}`);
}

/** Describes what confines shell commands. */
export function sandboxText(sandbox: StartInfo['sandbox']): string {
  if (sandbox === null) return 'being tried out …';
  if (typeof sandbox === 'string') return sandbox;
  if (sandbox.on) return `${sandbox.kind}: the operating system restricts commands`;
  return sandbox.instead === 'container' ? 'this machine, as you configured' : 'none';
}

function missingSandbox(sandbox: StartInfo['sandbox']): readonly string[] {
  if (sandbox === null || typeof sandbox === 'string' || sandbox.on) return [];
  if (sandbox.instead !== undefined) return [];
  return [
    `no sandbox: ${sandbox.because}. Only the permission rules restrict shell commands. To get one: ${sandbox.hint}`,
  ];
}

function agentsText({ agents }: LibraryInfo): string {
  const own = agents.agents.filter(({ origin }) => origin.scope !== 'builtin');
  const builtin = `${agents.agents.length - own.length} built in`;
  if (own.length === 0) return builtin;
  const names = own.slice(0, 8).map(({ name }) => name);
  if (own.length > names.length) names.push('…');
  return `${builtin}, ${own.length} of yours: ${names.join(', ')}`;
}
