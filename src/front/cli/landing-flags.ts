/** The flags of the commands that merge the changes of tasks. */
export const LANDING_FLAGS = {
  squash: { help: 'make one commit of the changes' },
  'no-commit': { help: 'change only the files, and commit nothing' },
  abort: { help: 'take back a landing whose process has died (--continue finishes it)' },
};
