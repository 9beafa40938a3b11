import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openSession } from '../../../src/api/open-session.ts';
import type { Session, SessionOptions } from '../../../src/api/index.ts';
import { startFakeModel } from '../../../src/testing/index.ts';
import { expectNoViolations } from '../../no-violations.ts';

/** A secret in the environment of the sessions, which no log may contain. */
export const SECRET = 'zq8-Vw3kT0pLr5Yx7NbC2mHd';

/** Opens a session in an empty directory, against a fake model that answers as the script says. */
export async function openServingSession(
  script: Parameters<typeof startFakeModel>[0],
  options: SessionOptions = {},
): Promise<Session> {
  const model = await startFakeModel(script);
  const directory = mkdtempSync(join(tmpdir(), 'muster-test-'));
  const session = await openSession({
    cwd: directory,
    dataDir: join(directory, 'data'),
    environment: { HOME: directory, DEPLOY_TOKEN: SECRET, ...model.env('anthropic') },
    questions: 'wait',
    ...options,
  });
  onTestFinished(async () => {
    await session.close();
    await model.close();
    rmSync(directory, { recursive: true, force: true });
    expectNoViolations(model);
  });
  return session;
}
