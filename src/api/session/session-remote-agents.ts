import { systemClock } from '../../base/clock.ts';
import type { Deadlines } from '../../base/deadlines.ts';
import { VERSION } from '../../base/version.ts';
import { userConfigDirectory } from '../../config/paths.ts';
import type { LivenessLimits } from '../../model/watchdog.ts';
import { toRealPath } from '../../sys/files/real-path.ts';
import type { Sandbox } from '../../sys/sandbox/sandbox.ts';
import { isSecretVariable } from '../../sys/secret-variables.ts';
import { findOwnSecrets } from '../mcp/own-secrets.ts';
import { openRemoteAgents, type SessionRemoteAgents } from '../remote/open-remote-agents.ts';
import { listSecretForms } from '../setup/secrets.ts';
import type { SessionConfig } from './session-config.ts';

/** The parts that are opened after the models, and on which remote agents depend. */
export interface LateParts {
  readonly sandbox: Sandbox;
  readonly deadlines: Deadlines;
  readonly limits: LivenessLimits;
}

/**
 * Opens the remote agents of a session. Nothing of them is loaded before the first request.
 *
 * @param late resolves to the parts that are opened later
 */
export function openSessionRemoteAgents(
  { environment, state, directory, roots, loaded, secrets, onNotice }: SessionConfig,
  late: Promise<LateParts>,
): SessionRemoteAgents {
  const addSecret = (value: string): void => void secrets.push(...listSecretForms(value));
  return openRemoteAgents({
    acp: async () => {
      const [{ createAcpPort }, { createAcpStarter }, { sandbox, deadlines, limits }] =
        await Promise.all([
          import('../../remote/acp/port.ts'),
          import('../remote/start-acp-program.ts'),
          late,
        ]);
      const start = createAcpStarter({
        variables: {
          environment,
          home: state.home,
          project: roots[0],
          ownSecrets: findOwnSecrets(environment, loaded.config.models.providers),
        },
        sandbox,
        stateDirectories: [directory, toRealPath(userConfigDirectory(state))],
        addSecret,
        isSecret: isSecretVariable,
        onNotice,
      });
      return createAcpPort({ start, version: VERSION, limits, clock: systemClock, deadlines });
    },
    a2a: async () => {
      const [{ openA2a }, { deadlines }] = await Promise.all([
        import('../remote/open-a2a.ts'),
        late,
      ]);
      const { config } = loaded;
      return openA2a({ environment, home: state.home, config, deadlines, addSecret, onNotice });
    },
  });
}
