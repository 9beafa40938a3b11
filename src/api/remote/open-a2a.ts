import { systemClock } from '../../base/clock.ts';
import type { Deadlines } from '../../base/deadlines.ts';
import type { Config } from '../../config/config.ts';
import { createA2aPort } from '../../remote/a2a/port.ts';
import type { RemoteAgentPort } from '../../remote/remote-agent-port.ts';
import type { Environment } from '../../sys/env.ts';
import { createHttpFetch } from '../../sys/http/http-fetch.ts';
import { findOwnSecrets } from '../mcp/own-secrets.ts';
import { loadKeyReader } from '../setup/accounts.ts';

/** The parts of a session that the port to servers of the Agent2Agent protocol needs. */
interface A2aParts {
  readonly environment: Environment;
  readonly home: string;
  readonly config: Pick<Config, 'models' | 'remote'>;
  readonly deadlines: Deadlines;
  /** Keeps a value out of logs. */
  addSecret(value: string): void;
  onNotice(line: string): void;
}

/** Creates the port to servers of the Agent2Agent protocol. */
export function openA2a({
  environment,
  home,
  config,
  deadlines,
  addSecret,
  onNotice,
}: A2aParts): RemoteAgentPort {
  return createA2aPort({
    fetch: createHttpFetch(environment),
    deadlines,
    environment,
    ownSecrets: findOwnSecrets(environment, config.models.providers),
    keys: loadKeyReader({ environment, home, clock: systemClock, onKey: addSecret, onNotice }),
    addSecret,
    allowedOrigins: config.remote.a2aOrigins,
  });
}
