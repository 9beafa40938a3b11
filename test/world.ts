/**
 * The tests that `npm run test:world -- PART` runs and `npm test` leaves out, which has to end within ten
 * minutes. Of each kind `npm test` keeps some.
 */
export const WORLD: Readonly<Record<string, readonly string[]>> = {
  /** kill -9 at many moments and at each write of a log, and disks that become full. */
  crash: [
    'test/crash/{kill,kill-and-resume,every-write,every-write-resumed,full-disk}.test.ts',
    'test/engine/crash-resume.test.ts',
    'test/engine/reuse/reuse-random.test.ts',
    'test/e2e/tasks-move.test.ts',
  ],
  /** Every fault of a server over the protocols other than Chat, and the time limit of a run. */
  faults: ['test/faults/{anthropic,google,responses}.test.ts', 'test/e2e/time-limit.test.ts'],
  /** Everyday commands with and without the sandbox, of toolchains that are installed for it. */
  everyday: ['test/everyday/everyday.test.ts'],
  /**
   * The packed package on machines that have nothing but Node, complete builds in other directories, and completion in
   * real shells.
   */
  install: [
    'test/install/{build,install}.test.ts',
    'test/package/package.test.ts',
    'test/e2e/completion.test.ts',
  ],
  /** Attempts to pass the check of a task's work without doing the work. */
  accept: ['test/accept/*.test.ts', 'test/engine/acceptance/ladder.test.ts'],
  /** Language servers from npm and of the system, formatters and checkers. */
  code: ['test/languages/world/*.test.ts'],
  /** Servers of the Model Context Protocol from npm, which needs the network. */
  mcp: ['test/mcp/world/*.test.ts'],
  /** The attacks that play through the engine and the built program, large pages, and keys in a real keychain. */
  hostile: [
    'test/hostile/{hostile,effects,program,pages,keychain}.test.ts',
    'test/e2e/hostile-results.test.ts',
    'test/engine/process/faults.test.ts',
  ],
  /** The runner of evaluations against the scripted model, all of its tasks, and the agents for other benchmarks. */
  eval: ['test/eval/world/*.test.ts'],
  /** Many random commands of subagents that work at the same time, with and without the sandbox. */
  receipts: ['test/receipts/random-commands.test.ts'],
  /** Landings with kill -9 before each change of the disk, merges compared with git, many workspaces at the same time, and attempts. */
  workspaces: ['test/workspaces/world/*.test.ts'],
  /** Every point of the terminal UI, on the built program in tmux. */
  terminal: ['test/terminal/*.test.ts', 'test/e2e/tui-*.test.ts'],
};
