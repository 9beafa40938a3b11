import type { AppState } from '../model/app-state.ts';
import { isCutOff } from '../model/task-tree.ts';
import {
  type UpdateContext,
  andThen,
  countHints,
  hint,
  next,
  type Update,
  appendEntry,
  setEditorText,
} from './step.ts';
import type { UiMessage } from './message.ts';
import { COMMAND_HINTS } from '../view/hints.ts';
import { COMMANDS } from './commands/command-table.ts';
import { BARE_WORDS, ELSEWHERE, FAMILIAR_NAMES } from './commands/familiar-names.ts';
import { isOffered, offeredCommands } from './commands/offered-commands.ts';
import { readSlashText } from '../../../protocol/slash-text.ts';
import { showPage, unknownCommandPage } from './commands/pages.ts';
import { submitAnswer } from './questions.ts';
import { pressEnter } from './direct-answer.ts';
import { questionAnsweredByText } from '../model/similar-questions.ts';
import { takeSelected } from './picker.ts';
import { closeTask } from './tasks.ts';

/** A text that the user typed: a message, `/command argument`, or `!shell command`. */
export type Input =
  | { readonly kind: 'message' }
  | { readonly kind: 'command'; readonly name: string; readonly argument: string }
  /** A note for the context file of the project or of the user. */
  | { readonly kind: 'note'; readonly note: string }
  /** A shell command. After `!` the output is attached to the next message; after `!!` it is only shown. */
  | { readonly kind: 'shell'; readonly command: string; readonly isShared: boolean };

/** A note: a single line that starts with one `#`. A heading above further lines is a message. */
const NOTE = /^# (\S[^\n]{0,1999})$/;

/** Reads a typed text. A text that starts with a path is a message, because of its second slash: `/etc/hosts is wrong`. */
export function readInput(text: string): Input {
  const [, marks, shell = ''] = /^(!!?)([\s\S]*)$/.exec(text) ?? [];
  if (marks !== undefined) return { kind: 'shell', command: shell.trim(), isShared: marks === '!' };
  const [, note] = NOTE.exec(text) ?? [];
  if (note !== undefined) return { kind: 'note', note: note.trim() };
  const bare = BARE_WORDS.get(text.trim());
  if (bare !== undefined) return { kind: 'command', name: bare, argument: '' };
  const typed = readSlashText(text.trim());
  if (typed === null || !typed.isCommandLike) return { kind: 'message' };
  return { kind: 'command', name: typed.name, argument: typed.argument };
}

/** Handles a text that was sent: an answer, a command, or a message to the task in view. */
export function submit(state: AppState, text: string, context: UpdateContext): Update {
  if (state.picker !== null) return takeSelected(state, context);
  if (state.writing.kind !== 'message') return submitAnswer(state, text);
  if (text.trim() === '') return sendNothing(state, context);
  const asked = questionAnsweredByText(state);
  if (asked !== undefined && readInput(text).kind === 'message') {
    const answering = {
      ...state,
      question: asked.id,
      writing: { kind: 'answer', draft: '' },
    } as const;
    return submitAnswer(answering, text);
  }
  const remember = { type: 'remember-input', text } as const;
  return andThen(next({ ...state, anchor: null }, remember), (following) =>
    handle(following, text, context),
  );
}

function handle(state: AppState, text: string, context: UpdateContext): Update {
  const input = readInput(text);
  switch (input.kind) {
    case 'command':
      return andThen(countCommandHint(state, input.name), (counted) =>
        runSlashCommand(counted, { ...input, text: text.trim() }, context),
      );
    case 'shell':
      return runShell(state, input);
    case 'note':
      return takeNote(state, input.note);
    case 'message':
      return next(state, { type: 'send-message', text, to: state.openTask });
    default:
      return input satisfies never;
  }
}

/** Counts a use of the hint to type a command, if there is one. */
function countCommandHint(state: AppState, name: string): Update {
  const ownName = FAMILIAR_NAMES.get(name) ?? name;
  return countHints(
    state,
    COMMAND_HINTS.filter((each) => each === ownName),
  );
}

/** Asks which context file takes a note. Plain lines have no such dialog; there it is the file of the project. */
function takeNote(state: AppState, note: string): Update {
  if (state.conversation.isWatched) return hint(state, 'a note can be written only in your own UI');
  if (state.surface === 'lines') return next(state, { type: 'write-note', note, scope: 'project' });
  return next(state, { type: 'open-dialog', subject: 'note', argument: note });
}

/** Handles Enter in an empty editor: it answers a question if it is pressed twice, or continues a conversation that was cut off. */
function sendNothing(state: AppState, context: UpdateContext): Update {
  const [question] = state.tree.questions.values();
  if (question !== undefined) return pressEnter(state, question, context);
  const isReady = state.openTask === null && isCutOff(state.tree);
  return isReady ? next(state, { type: 'continue-conversation' }) : next(state);
}

/**
 * Runs a slash command: Muster's own, or one from a file, a skill or a server, which is sent as a message. Shows a page with
 * suggestions if there is no command of this name.
 */
export function runSlashCommand(
  state: AppState,
  {
    name,
    argument,
    text = `/${name} ${argument}`.trim(),
  }: { readonly name: string; readonly argument: string; readonly text?: string },
  context: UpdateContext,
): Update {
  const ownName = FAMILIAR_NAMES.get(name) ?? name;
  const command = COMMANDS.find((each) => each.name === ownName);
  // A name with a colon may be that of a prompt of a server, and is an ordinary message otherwise.
  if (command === undefined && (name.includes(':') || isOffered(name, context.library))) {
    return next(state, { type: 'send-message', text, to: state.openTask });
  }
  const elsewhere = ELSEWHERE.get(name);
  if (elsewhere !== undefined) {
    return showPage(state, { title: `/${name}`, lines: [elsewhere] }, context);
  }
  if (command === undefined) {
    const known = [...COMMANDS, ...offeredCommands(context.library)];
    return showPage(state, unknownCommandPage(name, known), context);
  }
  if (state.conversation.isWatched && command.needsOwnConversation === true) {
    return hint(state, `/${command.name} does not work while you watch another process`);
  }
  return command.run(state, argument, context);
}

function runShell(
  state: AppState,
  { command, isShared }: Extract<Input, { kind: 'shell' }>,
): Update {
  if (command === '')
    return hint(state, 'type the command after the exclamation mark: !git status');
  return andThen(closeTask(state), (closed) => {
    if (closed.isShellRunning)
      return hint(closed, 'one command at a time: stop the other one first');
    const nothing = { output: '', outputLines: 0, outcome: null };
    const added = appendEntry(closed, { kind: 'shell', command, isShared, ...nothing });
    return next(
      { ...added.state, isShellRunning: true },
      { type: 'run-shell', key: added.key, command, isShared },
    );
  });
}

/**
 * Puts a text from the external editor into the editor, or sends it in plain lines, which have none. If the question of the text is settled, a page shows the text. */
export function takeEditedText(
  state: AppState,
  { text, writing }: Extract<UiMessage, { type: 'text-edited' }>,
  context: UpdateContext,
): Update {
  if (state.surface === 'lines') {
    if (text.trim() === '') return hint(state, 'nothing was sent: the text is empty');
    return next(state, { type: 'dispatch', message: { type: 'submitted', text } });
  }
  if (state.writing.kind === writing) return setEditorText(state, text);
  const title = 'Your text, for a question that is settled';
  return showPage(state, { title, lines: text.split('\n') }, context);
}
