/** The environment as a value: read here and nowhere else, handed down from the edge. */
export type Environment = Readonly<Record<string, string | undefined>>;

export function readEnvironment(): Environment {
  return process.env;
}
