import { maskKeys } from '../../keys/mask-keys.ts';
import type { McpServerEntry } from '../../mcp/server-entry.ts';
import { isSecretVariable } from '../../sys/secret-variables.ts';

/** Describes what runs or is called, without values that look secret. */
export function describeTarget({
  transport,
  origin,
}: Pick<McpServerEntry, 'transport' | 'origin'>): string {
  if (transport.type !== 'stdio') return maskKeys(maskQuery(transport.url));
  const words = [transport.command, ...maskArguments(transport.args)];
  // The directory of a plugin is the same for all of its servers, and its name looks like a key.
  const root = origin.plugin === undefined ? undefined : transport.env[PLUGIN_ROOT];
  const shown =
    root === undefined
      ? words
      : words.map((word) => word.replaceAll(root, () => `\${${PLUGIN_ROOT}}`));
  return shown.map(maskKeys).join(' ');
}

/** The variable that holds the directory of the plugin in each of its servers. */
const PLUGIN_ROOT = 'CLAUDE_PLUGIN_ROOT';

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
