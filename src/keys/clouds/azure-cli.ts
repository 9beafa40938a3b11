import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isJsonObject } from '../../base/json.ts';
import { errorMessage } from '../../base/errors.ts';
import { KeyUnavailableError } from '../../protocol/api-key.ts';
import { maskKeys } from '../mask-keys.ts';
import { firstLine, type CloudDeps, type CloudKey } from './cloud-deps.ts';

/** The time limit of the command in milliseconds: it starts an interpreter and may ask a server. */
const CLI_MS = 30_000;

const run = promisify(execFile);

/** Reads an access token with the command line `az`, in which a person has signed in. */
export async function runAzureCli(
  resource: string,
  { environment, home }: CloudDeps,
): Promise<CloudKey> {
  const args = ['account', 'get-access-token', '--output', 'json', '--resource', resource];
  let output: string;
  try {
    const env = { ...environment };
    // A file of a project must not change what the command does.
    ({ stdout: output } = await run('az', args, { cwd: home, env, timeout: CLI_MS }));
  } catch (thrown) {
    throw describeFailure(thrown);
  }
  const answer = parse(output);
  const token = answer?.['accessToken'];
  if (typeof token !== 'string') {
    throw new KeyUnavailableError('"az account get-access-token" prints no token: run "az login"');
  }
  const seconds = Number(answer?.['expires_on'] ?? Number.NaN);
  const expiresAt = Number.isFinite(seconds) ? seconds * 1000 : null;
  return { key: token, secrets: [token], expiresAt };
}

function parse(output: string): Readonly<Record<string, unknown>> | null {
  try {
    const parsed: unknown = JSON.parse(output);
    return isJsonObject(parsed) ? parsed : null;
  } catch {
    // The caller says that there is no token. The output may hold one, so that no message repeats it.
    return null;
  }
}

function describeFailure(thrown: unknown): Error {
  if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') {
    return new KeyUnavailableError(
      'no credentials of Azure were found: set a key in AZURE_OPENAI_API_KEY or ANTHROPIC_FOUNDRY_API_KEY, or install the Azure command line and run "az login"',
    );
  }
  const stderr = thrown instanceof Error && 'stderr' in thrown ? String(thrown.stderr) : '';
  const reason = firstLine(maskKeys(stderr.trim() === '' ? errorMessage(thrown) : stderr));
  return new KeyUnavailableError(
    `"az account get-access-token" failed: ${reason} (run "az login")`,
  );
}
