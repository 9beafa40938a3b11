import { lazy } from '../../base/lazy.ts';
import type { Languages } from '../../languages/open-languages.ts';
import type { StartLanguageServer } from '../../languages/language-servers.ts';
import { findDeniedPaths } from '../../policy/denied-paths.ts';
import type { RuleSet } from '../../protocol/permission.ts';
import type { Environment } from '../../sys/env.ts';
import { toRealPath } from '../../sys/files/real-path.ts';
import { buildCommandEnvironment } from '../../sys/processes/command-environment.ts';
import { startServerProgram } from '../../sys/processes/server-process.ts';
import type { Sandbox } from '../../sys/sandbox/sandbox.ts';
import type { LoadedConfig } from '../../config/load.ts';

/** The language servers of a session. */
export interface SessionLanguages {
  /** Loads the language servers at their first use. Null if they are switched off. */
  readonly load: (() => Promise<Languages>) | null;
  /** Ends all servers. */
  close(): Promise<void>;
}

/** The parts of a session that language servers need. */
interface LanguageParts {
  readonly loaded: Pick<LoadedConfig, 'config' | 'rules'>;
  readonly environment: Environment;
  /** The user's home directory. */
  readonly home: string;
  /** The workspace roots. Absolute, without links. */
  readonly roots: readonly string[];
  readonly sandbox: Sandbox;
  /** True if the user trusts everything of the project for this run. */
  readonly trustsProject: boolean;
}

/** Prepares the language servers of a session. Nothing is loaded or started. */
export function openSessionLanguages({
  loaded,
  environment,
  home,
  roots,
  sandbox,
  trustsProject,
}: LanguageParts): SessionLanguages {
  const { code, sandbox: sandboxing } = loaded.config;
  if (!code.feedback) return { load: null, close: () => Promise.resolve() };
  const search = {
    path: environment['PATH'] ?? '',
    roots,
    trustsProject: trustsProject || code.projectPrograms,
  };
  let opened: Promise<Languages> | null = null;
  const startServer = createLanguageStarter({
    sandbox,
    environment,
    home: toRealPath(home),
    rules: loaded.rules,
    network: sandboxing.network,
    trustsProject: search.trustsProject,
  });
  const load = lazy(() => {
    opened = import('../../languages/open-languages.ts').then(({ openLanguages }) =>
      openLanguages({ search, limits: code, startServer }),
    );
    return opened;
  });
  return {
    load,
    close: async () => {
      await (await opened)?.close();
    },
  };
}

/** The parts that decide what language servers may use. */
interface StarterParts {
  readonly sandbox: Sandbox;
  readonly environment: Environment;
  /** Absolute, without links. */
  readonly home: string;
  readonly rules: RuleSet;
  readonly network: boolean;
  readonly trustsProject: boolean;
}

/**
 * Creates the starter of language servers. They run in the sandbox, where they can change nothing but their temporary
 * directory. Without a sandbox they run only for a trusted project.
 */
function createLanguageStarter(parts: StarterParts): StartLanguageServer {
  const { sandbox, environment, home, rules, network, trustsProject } = parts;
  return async ({ argv, cwd, roots }) => {
    const state = await sandbox.state();
    const env = buildCommandEnvironment(environment, {
      git: { access: 'read-only', confined: state.on },
      network: network || !state.on,
    });
    if (!state.on) {
      if (state.instead !== 'container' && !trustsProject) {
        throw new Error(
          `there is no sandbox for it (${state.because}), and the project is not trusted`,
        );
      }
      const [file, ...args] = argv;
      return startServerProgram({ file, args, cwd, env });
    }
    const confined = sandbox.confine({
      argv,
      cwd,
      env,
      confinement: {
        access: 'read-only',
        roots,
        network,
        denied: findDeniedPaths({ rules, roots }, { home }),
      },
      stderr: 'command',
    });
    const { file, args, monitored, startCheck } = confined;
    const server = startServerProgram({
      file,
      args,
      cwd,
      env: confined.env,
      monitored,
      startCheck,
    });
    void server.ended.then(() => confined.release());
    return server;
  };
}
