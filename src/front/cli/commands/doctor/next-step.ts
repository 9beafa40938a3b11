import type { Check } from '../../../../protocol/check.ts';

/** The checks whose failures keep all others from being right, so that they come first. */
const FIRST: ReadonlySet<string> = new Set(['node', 'config', 'data directory']);

/** Returns the most important next step of the user after the checks of `muster doctor`, as one line. */
export function nextDoctorStep(checks: readonly Check[]): string {
  const failed = checks.filter(({ status }) => status === 'fail');
  const first = failed.find(({ name }) => FIRST.has(name));
  if (first !== undefined) return describeStep(first);
  const model = checks.find(({ name, status, fix }) => isModelMissing(name, status, fix));
  if (model !== undefined) {
    const hasProvider = checks.some(({ name, status }) => name === 'provider' && status === 'ok');
    return hasProvider && model.status === 'fail'
      ? `model: ${model.detail}`
      : 'sign in to a provider: muster login';
  }
  const [other] = failed;
  if (other !== undefined) return describeStep(other);
  const sandbox = checks.find(({ name, status }) => name === 'sandbox' && status === 'warn');
  if (sandbox !== undefined) return describeStep(sandbox);
  return 'everything is ready: start a conversation with muster, or ask at once: muster -p "…"';
}

/** Returns true if no model can be chosen, or if only the offline engine answers. */
function isModelMissing(name: string, status: Check['status'], fix: string | null): boolean {
  return name === 'model' && (status === 'fail' || (status === 'warn' && fix !== null));
}

function describeStep({ name, fix, detail }: Check): string {
  return name === 'config' ? `correct the configuration: ${detail}` : `${name}: ${fix ?? detail}`;
}
