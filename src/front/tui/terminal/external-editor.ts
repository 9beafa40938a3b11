import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorMessage } from '../../../base/errors.ts';
import { sanitizeForTerminal } from '../../../base/terminal-text.ts';
import type { Writing } from '../model/app-state.ts';
import type { UiMessage } from '../update/message.ts';
import type { Environment } from '../../../sys/env.ts';

/** The maximum size of a text that is taken back from the editor. */
const MAX_BYTES = 1024 * 1024;
/** The exit code of a shell that does not find the command. */
const NOT_FOUND = 127;

const NO_EDITOR = 'no editor is set: export EDITOR=nano, or VISUAL, and start again';

/** The outcome of a visit to the editor. `why` says what went wrong; the text in Muster is unchanged then. */
type EditOutcome =
  | { readonly kind: 'edited'; readonly text: string }
  | { readonly kind: 'failed'; readonly why: string };

/** Lends the terminal to a program, and takes it back when the promise of `use` is settled. */
type LendTerminal = <Result>(use: () => Promise<Result>) => Promise<Result>;

/** The user's own text editor, `$VISUAL` or `$EDITOR`, which may have arguments. */
export class ExternalEditor {
  private readonly environment: Environment;
  private readonly lend: LendTerminal;
  private running: ReturnType<typeof spawn> | null = null;

  constructor(environment: Environment, lend: LendTerminal) {
    this.environment = environment;
    this.lend = lend;
  }

  /** Opens a text in the editor, in a temporary file that only the user can read. Never rejects. */
  async editText(text: string): Promise<EditOutcome> {
    let directory: string | null = null;
    try {
      directory = mkdtempSync(join(tmpdir(), 'muster-'));
      const path = join(directory, 'message.md');
      writeFileSync(path, text, { mode: 0o600 });
      const why = await this.open(path);
      if (why !== null) return { kind: 'failed', why };
      if (statSync(path).size > MAX_BYTES) {
        return { kind: 'failed', why: `the text has more than ${MAX_BYTES} bytes` };
      }
      return { kind: 'edited', text: withoutAddedEnd(readFileSync(path, 'utf8'), text) };
    } catch (thrown) {
      return { kind: 'failed', why: errorMessage(thrown) };
    } finally {
      if (directory !== null) rmSync(directory, { recursive: true, force: true });
    }
  }

  /** Opens a file in the editor. Resolves to null when the editor has ended without an error, otherwise to the reason. */
  async open(path: string): Promise<string | null> {
    const { VISUAL = '', EDITOR = '' } = this.environment;
    const command = VISUAL.trim() === '' ? EDITOR.trim() : VISUAL.trim();
    if (command === '') return NO_EDITOR;
    return this.lend(() => this.run(command, path));
  }

  /** Ends the editor, because this process is about to end. */
  kill(): void {
    this.running?.kill();
  }

  private async run(command: string, path: string): Promise<string | null> {
    // The shell reads the arguments in the variable, as git does. The path is no part of its text. The trap keeps the
    // shell waiting at Ctrl+C, which is meant for the editor.
    const child = spawn('/bin/sh', ['-c', `trap : INT; ${command} "$@"`, command, path], {
      stdio: 'inherit',
      env: { ...this.environment },
    });
    this.running = child;
    return new Promise<string | null>((resolve) => {
      child.once('error', (thrown) => resolve(`${command}: ${thrown.message}`));
      child.once('close', (code, signal) => {
        if (code === 0) resolve(null);
        else if (code === NOT_FOUND) resolve(`the editor was not found: ${command}`);
        else resolve(`${command} ended with ${signal ?? `exit code ${code}`}; nothing was taken`);
      });
    }).finally(() => {
      this.running = null;
    });
  }
}

/** The part of the UI that an external editor uses. */
export interface EditorSurface {
  /** The user's own editor, which needs the terminal. Absent if the terminal cannot be lent. */
  readonly externalEditor?: ExternalEditor;
  /** Absent in plain lines. Returns the text of the editor with all pasted parts. */
  editorText?(): string;
}

/**
 * Opens a text in the external editor, the typed one if it is null. Resolves to the message with the outcome. Never rejects.
 *
 * @param writing the purpose of the text
 */
export async function editTypedText(
  { externalEditor, editorText }: EditorSurface,
  text: string | null,
  writing: Writing['kind'],
): Promise<UiMessage> {
  const outcome = await externalEditor?.editText(text ?? editorText?.() ?? '');
  if (outcome?.kind === 'edited') return { type: 'text-edited', text: outcome.text, writing };
  return { type: 'hint', text: outcome?.why ?? 'a text can be edited only on the screen' };
}

/**
 * Opens a file in the external editor, which creates the file if it is missing. Resolves to a note with `done`, or to a
 * hint with the reason why the file was not edited. Never rejects.
 */
export async function openInEditor(
  { externalEditor }: EditorSurface,
  { path, done }: { readonly path: string; readonly done: string },
): Promise<UiMessage> {
  if (externalEditor === undefined) {
    return { type: 'hint', text: `open ${path} in your editor: that needs the screen here` };
  }
  const problem = await externalEditor.open(path);
  if (problem !== null) return { type: 'hint', text: problem };
  return { type: 'note', level: 'info', text: done };
}

/** Removes the line end that editors add, and characters that would control the terminal. */
function withoutAddedEnd(edited: string, before: string): string {
  const text = sanitizeForTerminal(edited.replaceAll(/\r\n?/g, '\n'), 'prose');
  return before.endsWith('\n') ? text : text.replace(/\n$/, '');
}
