import type { LanguagePort } from '../protocol/languages.ts';
import { checkWithServers, type FeedbackLimits } from './feedback.ts';
import type { ProgramSearch } from './find-server.ts';
import { LanguageServers, type StartLanguageServer } from './language-servers.ts';

/** The parts that language servers need from outside. */
export interface LanguageOptions {
  readonly search: ProgramSearch;
  readonly limits: FeedbackLimits;
  readonly startServer: StartLanguageServer;
}

/** The language servers of the process. */
export interface Languages extends LanguagePort {
  /** Ends all servers. */
  close(): Promise<void>;
}

/** Opens the language servers of the process. None is started before it is used. */
export function openLanguages({ search, limits, startServer }: LanguageOptions): Languages {
  const servers = new LanguageServers(search, startServer);
  return {
    findNewProblems: (changes, call) => checkWithServers(changes, call, { servers, limits }),
    close: () => servers.close(),
  };
}
