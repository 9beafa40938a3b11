import type { LanguageCall, LanguagePort } from '../protocol/languages.ts';
import { Checkers, isCheckedByCommands, type CheckersBefore } from './checkers.ts';
import { checkWithServers, formatFeedback, type FeedbackLimits } from './feedback.ts';
import type { ProgramSearch } from './find-server.ts';
import { formatText } from './format-file.ts';
import { LanguageServers } from './language-servers.ts';
import { ProjectChanges } from './project-changes.ts';
import type { StartProgram } from './start-program.ts';
import type { WorkspaceChanges } from '../sys/files/changes/workspace-changes.ts';

/** The parts that language servers, checkers and formatters need from outside. */
export interface LanguageOptions {
  readonly search: ProgramSearch;
  readonly limits: FeedbackLimits;
  readonly start: StartProgram;
  /** Loads the part that finds changes of files. Default: servers are started anew after commands. */
  readonly changes?: () => Promise<WorkspaceChanges>;
  /** True if problems are reported. */
  readonly feedback: boolean;
  /** True if files are formatted. */
  readonly format: boolean;
  /** The command lines of checkers. */
  readonly check: readonly string[];
}

/** The language servers, checkers and formatters of the process. */
export interface Languages extends LanguagePort {
  /** Notes that a command may have changed files. */
  noteCommand(): void;
  /** Ends the servers that were started for a workspace, given by its directory, and waits for their ends. */
  endWorkspace(tree: string): Promise<void>;
  /** Ends all servers. */
  close(): Promise<void>;
}

/** Opens the language servers of the process. Nothing is started before it is used. */
export function openLanguages(options: LanguageOptions): Languages {
  const { search, limits, start, feedback, format, check } = options;
  const { commandSeconds, formatSeconds } = limits;
  const changes = new ProjectChanges(options.changes);
  const servers = new LanguageServers({ search, start, changes });
  const checkers = new Checkers({ commands: feedback ? check : [], start, commandSeconds });
  changes.listen({
    found: ({ path }) => {
      if (isCheckedByCommands(path)) checkers.noteChanges();
    },
    unknown: () => checkers.noteChanges(),
  });
  const needsCommands = (path: string, roots: readonly string[]): boolean => {
    if (!checkers.areConfigured || !isCheckedByCommands(path)) return false;
    return servers.find(path, roots)?.isGivenUp ?? true;
  };
  const parts = { servers, limits };
  let hasRunCommands = false;
  const prepareCheckers = async (call: LanguageCall): Promise<CheckersBefore> => {
    // A call that is stopped meanwhile needs no problems.
    const isKnown = await changes.find(call.roots, call.signal).catch(() => true);
    if (hasRunCommands && !isKnown) checkers.noteChanges();
    hasRunCommands = false;
    return await checkers.prepare(call);
  };
  return {
    async beginChange(paths, call) {
      const checked = paths.some((path) => needsCommands(path, call.roots))
        ? await prepareCheckers(call)
        : null;
      return {
        format: async (file) =>
          format ? await formatText(file, call, { search, start, formatSeconds }) : null,
        async findNewProblems(made) {
          if (!feedback) return { problems: '', notes: [] };
          const [ofServers, ofCheckers] = await Promise.all([
            checkWithServers(made, call, parts),
            checked?.findNewProblems() ?? { files: [], notes: [] },
          ]);
          const found = {
            files: [...ofServers.files, ...ofCheckers.files],
            notes: [...ofServers.notes, ...ofCheckers.notes],
          };
          const readable = found.files.filter(({ path }) => call.isReadable(path));
          return formatFeedback({ ...found, files: readable }, call.cwd);
        },
      };
    },
    answer: async (question, call) =>
      (await import('./ask-language-server.ts')).askLanguageServer(question, call, parts),
    listProblems: async (path, call) =>
      (await import('./ask-language-server.ts')).listProblems(path, call, parts),
    planRename: async (symbol, call) =>
      (await import('./ask-language-server.ts')).planRename(symbol, call, parts),
    noteCommand: () => {
      servers.noteCommand();
      hasRunCommands = true;
    },
    endWorkspace: (tree) => servers.endBelow(tree),
    close: async () => {
      changes.close();
      await Promise.all([servers.close(), checkers.close()]);
    },
  };
}
