import { maskKeys } from '../../keys/mask-keys.ts';
import type { McpServerEntry } from '../../mcp/server-entry.ts';
import { isSecretVariable } from '../../sys/secret-variables.ts';

/** Describes what runs or is called, without values that look secret. */
export function describeTarget({ transport }: Pick<McpServerEntry, 'transport'>): string {
  if (transport.type !== 'stdio') return maskKeys(maskQuery(transport.url));
  return [transport.command, ...maskArguments(transport.args)].map(maskKeys).join(' ');
}

/** Replaces the values of parameters of a URL whose names suggest a secret. */
function maskQuery(url: string): string {
  return url.replaceAll(/([?&])([^=&#]+)=([^&#$]+)/g, (whole, mark: string, name: string) =>
    isSecretVariable(name) ? `${mark}${name}=[key]` : whole,
  );
}

/** Replaces the values of options whose names suggest a secret: `--api-key VALUE` and `--api-key=VALUE`. */
function maskArguments(args: readonly string[]): readonly string[] {
  return args.map((arg, index) => {
    const [, name, value] = /^(--?[\w-]+)=(.+)$/s.exec(arg) ?? [];
    if (name !== undefined && value !== undefined) {
      return isSecretVariable(name) && !value.startsWith('$') ? `${name}=[key]` : arg;
    }
    const before = args[index - 1] ?? '';
    const isValue = /^--?[\w-]+$/.test(before) && isSecretVariable(before);
    return isValue && !/^[-$]/.test(arg) ? '[key]' : arg;
  });
}
