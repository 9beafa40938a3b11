/** The names that other terminal agents use for commands, each with the command of Muster that does the same. */
export const FAMILIAR_NAMES: ReadonlyMap<string, string> = new Map([
  ['clear', 'new'],
  ['reset', 'new'],
  ['cost', 'usage'],
  ['stats', 'usage'],
  ['exit', 'quit'],
  ['settings', 'config'],
  ['allowed-tools', 'permissions'],
  ['continue', 'resume'],
  ['rewind', 'undo'],
  ['edit', 'editor'],
]);

/** The texts that mean a command although they have no slash. Each has to be the only text of the message. */
export const BARE_WORDS: ReadonlyMap<string, string> = new Map([
  ['?', 'help'],
  ['exit', 'quit'],
  ['quit', 'quit'],
]);

/** Familiar commands that Muster's UI does not have, with what to use instead. */
export const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['doctor', 'type !!muster doctor, which checks this machine and the configuration'],
  [
    'stop',
    'the key Esc stops the main agent; /tasks lists the tasks, and Ctrl+X or /task-stop ID stops one',
  ],
  ['bug', 'type !!muster doctor, and send its output with your report'],
]);
