/** What `muster schema` tells the form of. */
export const SCHEMAS = {
  agent: 'an agent definition, as `muster agents show --json` prints it',
  config: 'a config.toml',
  event: 'a line of `muster tasks log --json`',
  result: 'the result of a task, as `muster -p --output-format json` prints it',
  stream: 'a line of `--output-format stream-json` and of `muster tasks watch --json`',
  task: 'one of those that `muster tasks list --json` prints',
} as const;
export type SchemaName = keyof typeof SCHEMAS;
export const SCHEMA_NAMES = Object.keys(SCHEMAS).filter((name): name is SchemaName =>
  Object.hasOwn(SCHEMAS, name),
);

export interface SchemaCommand {
  readonly kind: 'schema';
  /** Null: the list of them. */
  readonly name: SchemaName | null;
}
