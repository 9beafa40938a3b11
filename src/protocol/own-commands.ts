/**
 * The names that run Muster's own commands in the terminal UI. A slash command from a file never takes such a name, so that
 * no project can change what `/quit` or `/permissions` does.
 */
export const OWN_COMMAND_NAMES: ReadonlySet<string> = new Set(
  (
    'agents allowed-tools board clear compact config context continue copy cost ' +
    'edit editor exit export help hooks init login logout mcp ' +
    'memory model new permissions quit redo reset restart resume ' +
    'rewind settings shells stats status take-back task-apply task-diff task-discard ' +
    'task-send task-status task-stop tasks theme thinking trust undo usage'
  ).split(' '),
);
