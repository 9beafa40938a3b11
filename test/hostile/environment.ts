/**
 * Puts an environment in the place of the process's own, which commands are started with, and gives
 * back what puts the old one back. Cases of one process run one after another for that.
 */
export function replaceEnvironment(environment: Readonly<Record<string, string>>): () => void {
  const before = { ...process.env };
  setEnvironment(environment);
  return () => setEnvironment(before);
}

function setEnvironment(environment: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) {
    if (environment[name] === undefined) delete process.env[name];
  }
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined) process.env[name] = value;
  }
}
