import { escapeLine } from '../config/message-text.ts';

/** A problem with a file of a plugin or a marketplace. */
export interface PluginProblem {
  /** The path of the file, relative to the directory of the plugin or marketplace. */
  readonly file: string;
  /** The field, such as `plugins[2].source`. Null if the problem is about the whole file. */
  readonly field: string | null;
  /** The rest of a sentence about the field or the file. */
  readonly message: string;
  /** An `error` keeps the plugin or the entry from being used. */
  readonly severity: 'error' | 'warning';
}

/** Describes a problem in a line that names the file and the field. */
export function describePluginProblem({ file, field, message }: PluginProblem): string {
  return [file, ...(field === null ? [] : [field]), message].map(escapeLine).join(': ');
}

/** Collects the problems of one file. */
export class ProblemCollector {
  readonly file: string;
  readonly list: PluginProblem[] = [];

  constructor(file: string) {
    this.file = file;
  }

  error(field: string | null, message: string): void {
    this.list.push({ file: this.file, field, message, severity: 'error' });
  }

  warn(field: string | null, message: string): void {
    this.list.push({ file: this.file, field, message, severity: 'warning' });
  }
}

/** The longest name of a field that a warning shows, and the maximum number of fields that are named. */
const MAX_FIELDS = 20;

/** Warns about the fields of an object that are neither used nor known. */
export function warnUnknownFields(
  fields: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
  { prefix, problems }: { readonly prefix: string; readonly problems: ProblemCollector },
): void {
  const unknown = Object.keys(fields).filter((field) => !known.has(field));
  for (const field of unknown.slice(0, MAX_FIELDS)) {
    problems.warn(`${prefix}${field}`, 'this field is not known and has no effect');
  }
  if (unknown.length > MAX_FIELDS) {
    problems.warn(null, `${unknown.length - MAX_FIELDS} more fields are not known`);
  }
}
