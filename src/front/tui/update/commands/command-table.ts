/** What can be typed after a slash. */
export const COMMANDS = {
  help: { args: '', help: 'commands and keys' },
  tasks: { args: '', help: 'all tasks of this conversation' },
  'task-status': { args: 'ID', help: 'one task: what it is, does and has used' },
  agents: { args: '', help: 'agents that can be delegated to' },
  model: { args: '[NAME]', help: 'which model runs, or another one from the next message on' },
  undo: { args: '', help: 'take the last message back, with the files that it changed' },
  redo: { args: '', help: 'take the last /undo back' },
  usage: { args: '', help: 'tokens and cost of this conversation' },
  context: { args: '', help: 'what stands in the context of this conversation' },
  permissions: { args: '', help: 'the mode and the rules that hold' },
  compact: { args: '[WHAT TO KEEP]', help: 'summarise the conversation to make room' },
  resume: { args: '[ID]', help: 'go on with an earlier one; without ID: those of here' },
  new: { args: '', help: 'begin another conversation; this one can be resumed' },
  quit: { args: '', help: 'leave; everything stopped can be resumed' },
} as const;

export type CommandName = keyof typeof COMMANDS;

function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

export type SlashInput =
  | { readonly kind: 'message' }
  | { readonly kind: 'command'; readonly name: CommandName; readonly rest: string }
  | { readonly kind: 'unknown'; readonly word: string }
  /** `!command`; with a second mark it is shown and goes nowhere. */
  | { readonly kind: 'shell'; readonly command: string; readonly isShared: boolean };

const COMMAND = /^\/([a-z][a-z-]*)(?:\s+([\s\S]*))?$/;

/** What was typed. A path is a message, since it has a second slash: `/etc/hosts is wrong`. */
export function readInput(text: string): SlashInput {
  const [, marks, command = ''] = /^(!!?)([\s\S]*)$/.exec(text) ?? [];
  if (marks !== undefined)
    return { kind: 'shell', command: command.trim(), isShared: marks === '!' };
  const [, word, rest = ''] = COMMAND.exec(text.trim()) ?? [];
  if (word === undefined) return { kind: 'message' };
  if (word === 'exit') return { kind: 'command', name: 'quit', rest };
  if (isCommandName(word)) return { kind: 'command', name: word, rest: rest.trim() };
  return { kind: 'unknown', word };
}
