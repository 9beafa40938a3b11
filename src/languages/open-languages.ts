import type { LanguagePort } from '../protocol/languages.ts';
import { Checkers, isCheckedByCommands } from './checkers.ts';
import { checkWithServers, formatFeedback, type FeedbackLimits } from './feedback.ts';
import type { ProgramSearch } from './find-server.ts';
import { formatText } from './format-file.ts';
import { LanguageServers } from './language-servers.ts';
import type { StartProgram } from './start-program.ts';

/** The parts that language servers, checkers and formatters need from outside. */
export interface LanguageOptions {
  readonly search: ProgramSearch;
  readonly limits: FeedbackLimits;
  readonly start: StartProgram;
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
  /** Ends all servers. */
  close(): Promise<void>;
}

/** Opens the language servers of the process. Nothing is started before it is used. */
export function openLanguages(options: LanguageOptions): Languages {
  const { search, limits, start, feedback, format, check } = options;
  const { commandSeconds, formatSeconds } = limits;
  const servers = new LanguageServers(search, start);
  const checkers = new Checkers({ commands: feedback ? check : [], start, commandSeconds });
  const needsCommands = (path: string, roots: readonly string[]): boolean => {
    if (!checkers.areConfigured || !isCheckedByCommands(path)) return false;
    return servers.find(path, roots)?.isGivenUp ?? true;
  };
  const parts = { servers, limits };
  return {
    async beginChange(paths, call) {
      const checked = paths.some((path) => needsCommands(path, call.roots))
        ? await checkers.prepare(call)
        : null;
      return {
        format: async (file) =>
          format ? await formatText(file, call, { search, start, formatSeconds }) : null,
        async findNewProblems(changes) {
          if (!feedback) return { problems: '', notes: [] };
          const [ofServers, ofCheckers] = await Promise.all([
            checkWithServers(changes, call, parts),
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
    noteCommand: () => servers.noteCommand(),
    close: () => servers.close(),
  };
}
