import { basename, isAbsolute } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { readRelativePath } from './plugin-paths.ts';

/** A place from which the files of a plugin or a marketplace come. */
export type PluginSource =
  | {
      readonly kind: 'directory';
      /** Absolute. */
      readonly path: string;
    }
  | {
      /** A gzipped tar archive as `npm pack` writes it. */
      readonly kind: 'archive';
      /** Absolute. */
      readonly path: string;
    }
  | GitSource
  | {
      /** A package of npm. */
      readonly kind: 'npm';
      readonly name: string;
      /** A version or a tag. Null for the newest version. */
      readonly version: string | null;
      /** The address of the registry. Null for the user's own setting. */
      readonly registry: string | null;
    };

/** Returns the name of the directory of a plugin: its own or that of its repository. Null if the source has none. */
export function nameDirectory(source: PluginSource): string | null {
  switch (source.kind) {
    case 'directory':
      return basename(source.path);
    case 'git':
      return basename(source.directory === '' ? source.url : source.directory).replace(
        /\.git$/,
        '',
      );
    case 'archive':
    case 'npm':
      return null;
    default:
      return source satisfies never;
  }
}

export interface GitSource {
  readonly kind: 'git';
  readonly url: string;
  /** A branch, a tag or a commit. Null for the default branch. */
  readonly ref: string | null;
  /** The directory in the repository; empty for the whole repository. */
  readonly directory: string;
}

/** A source, or the reason why a text or value is none, as the rest of a sentence. */
export type SourceReading =
  | { readonly ok: true; readonly source: PluginSource }
  | { readonly ok: false; readonly reason: string };

/** Addresses that git is asked for. Others could run programs or send the content in plain text. */
const GIT_URL = /^(?:https|ssh|file):\/\/[^\s\0]+$/;
/** The short form of an SSH address: `git@host:path`. */
const SCP_URL = /^[\w.-]+@[\w.-]+:(?!\/\/)[^\s\0]+$/;
const GITHUB_REPOSITORY = /^\w[\w.-]*\/\w[\w.-]*$/;
/** A name of a branch or a tag, or a commit. It must not look like an option or a range. */
const GIT_REF = /^(?!-)(?!.*\.\.)[\w./+@-]{1,200}$/;
const PACKAGE_NAME = /^(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]{0,213}$/;
const PACKAGE_VERSION = /^[\w.+~^-]{1,100}$/;
const REGISTRY =
  /^https:\/\/[^\s\0@]+$|^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:\/[^\s\0@]*)?$/;

/**
 * Reads a source that a person has typed: `npm:PACKAGE[@VERSION]`, `github:OWNER/REPOSITORY`, or an address of a git
 * repository. `#REF` or `#REF:DIRECTORY` can follow a repository. Returns null for a text that has none of these forms,
 * which may be a path or a name.
 */
export function parseSource(text: string): SourceReading | null {
  if (text.startsWith('npm:')) return readPackageText(text.slice('npm:'.length));
  const [address = '', fragment] = splitFragment(text);
  if (address.startsWith('github:')) {
    return readGitHub(address.slice('github:'.length), fragment);
  }
  if (GIT_URL.test(address) || SCP_URL.test(address)) return createGitSource(address, fragment);
  return /^[A-Za-z][\w+.-]*:\/\//.test(address)
    ? refuse('only https, ssh and file addresses of git repositories can be used')
    : null;
}

/** Reads the text `OWNER/REPOSITORY` with a fragment as parseSource does. */
export function parseGitHubRepository(text: string): SourceReading | null {
  const [address = '', fragment] = splitFragment(text);
  return GITHUB_REPOSITORY.test(address) ? readGitHub(address, fragment) : null;
}

/** The place of a marketplace, to which the paths in its entries are relative. */
export interface MarketplacePlace {
  readonly source: PluginSource;
  /** The commit from which the marketplace was read. Null if it is not in a repository. */
  readonly commit: string | null;
  /** The directory to which bare names are relative, from `metadata.pluginRoot`. Empty for none. */
  readonly pluginRoot: string;
}

/** Reads the field `source` of an entry of a marketplace. */
export function readEntrySource(
  value: JsonValue | undefined,
  place: MarketplacePlace,
): SourceReading {
  if (typeof value === 'string') return readRelativeSource(value, place);
  if (!isJsonObject(value)) return refuse('it must be a path or an object');
  const ref = value['sha'] ?? value['ref'];
  switch (value['source']) {
    case 'github':
      return typeof value['repo'] === 'string'
        ? readGitHub(value['repo'], toFragment(ref, value['path']))
        : refuse('`repo` must be a text such as OWNER/REPOSITORY');
    case 'url':
    case 'git':
      return readGitUrl(value['url'], toFragment(ref, value['path']));
    case 'git-subdir':
      return typeof value['path'] === 'string'
        ? readGitUrl(value['url'] ?? value['repo'], toFragment(ref, value['path']))
        : refuse('`path` must be a text');
    case 'npm':
      return readPackage(value);
    default:
      return refuse(`the kind ${JSON.stringify(value['source'] ?? null)} is not supported`);
  }
}

function readRelativeSource(text: string, { source, commit, pluginRoot }: MarketplacePlace) {
  const relative = readRelativePath(text);
  if (relative === null) return refuse('the path leads out of the marketplace');
  const parts = [text.startsWith('./') ? '' : pluginRoot, relative].filter((part) => part !== '');
  const directory = parts.join('/');
  switch (source.kind) {
    case 'directory': {
      const path = directory === '' ? source.path : `${source.path}/${directory}`;
      return accept({ kind: 'directory', path });
    }
    case 'git': {
      const inRepository = [source.directory, directory].filter((part) => part !== '').join('/');
      return accept({ ...source, ref: commit ?? source.ref, directory: inRepository });
    }
    case 'archive':
    case 'npm':
      return refuse('a path is possible only in a marketplace that is a directory or a repository');
  }
}

function toFragment(ref: JsonValue | undefined, path: JsonValue | undefined): string | undefined {
  if (ref === undefined && path === undefined) return undefined;
  const directory = typeof path === 'string' ? `:${path}` : '';
  return `${typeof ref === 'string' ? ref : ''}${directory}`;
}

function readGitUrl(url: JsonValue | undefined, fragment: string | undefined): SourceReading {
  if (typeof url !== 'string') return refuse('`url` must be a text');
  if (GIT_URL.test(url) || SCP_URL.test(url)) return createGitSource(url, fragment);
  if (GITHUB_REPOSITORY.test(url)) return readGitHub(url, fragment);
  return refuse('`url` must be an https, ssh or file address');
}

function readGitHub(repository: string, fragment: string | undefined): SourceReading {
  const name = repository.replace(/\.git$/, '');
  return GITHUB_REPOSITORY.test(name)
    ? createGitSource(`https://github.com/${name}.git`, fragment)
    : refuse('a repository on GitHub is written as OWNER/REPOSITORY');
}

/** @param fragment `REF` or `REF:DIRECTORY` */
function createGitSource(url: string, fragment: string | undefined): SourceReading {
  const [ref = '', path = ''] = splitOnce(fragment ?? '', ':');
  const directory = readRelativePath(path);
  if (ref !== '' && !GIT_REF.test(ref))
    return refuse('the branch, tag or commit is not a valid name');
  if (directory === null) return refuse('the directory leads out of the repository');
  return accept({ kind: 'git', url, ref: ref === '' ? null : ref, directory });
}

function readPackageText(text: string): SourceReading {
  const at = text.indexOf('@', 1);
  return at === -1
    ? readPackage({ package: text })
    : readPackage({ package: text.slice(0, at), version: text.slice(at + 1) });
}

function readPackage({ package: name, version, registry }: JsonObject): SourceReading {
  if (typeof name !== 'string' || !PACKAGE_NAME.test(name)) {
    return refuse('the name of the package is not valid');
  }
  if (version !== undefined && (typeof version !== 'string' || !PACKAGE_VERSION.test(version))) {
    return refuse('the version of the package must be one version or a tag');
  }
  if (registry !== undefined && (typeof registry !== 'string' || !REGISTRY.test(registry))) {
    return refuse('the registry must be an https address');
  }
  return accept({ kind: 'npm', name, version: version ?? null, registry: registry ?? null });
}

function accept(source: PluginSource): SourceReading {
  return { ok: true, source };
}

function refuse(reason: string): SourceReading {
  return { ok: false, reason };
}

function splitFragment(text: string): readonly string[] {
  return splitOnce(text, '#');
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}

/** Describes a source as a person would type it. */
export function describePluginSource(source: PluginSource): string {
  switch (source.kind) {
    case 'directory':
    case 'archive':
      return source.path;
    case 'git': {
      const { url, ref, directory } = source;
      const place = `${ref ?? ''}${directory === '' ? '' : `:${directory}`}`;
      return place === '' ? url : `${url}#${place}`;
    }
    case 'npm':
      return `npm:${source.name}${source.version === null ? '' : `@${source.version}`}`;
  }
}

/** Reads a source from a record that Muster has written. Returns null for a value that is none. */
export function readStoredSource(value: JsonValue | undefined): PluginSource | null {
  if (!isJsonObject(value)) return null;
  const { kind, path, url, ref, directory, name, version, registry } = value;
  if (kind === 'directory' || kind === 'archive') {
    return typeof path === 'string' && isAbsolute(path) ? { kind, path } : null;
  }
  if (kind === 'git' && typeof url === 'string' && typeof directory === 'string') {
    const place = `${typeof ref === 'string' ? ref : ''}:${directory}`;
    const read = readGitUrl(url, place);
    return read.ok ? read.source : null;
  }
  if (kind !== 'npm') return null;
  const read = readPackage({
    ...(name === undefined ? {} : { package: name }),
    ...(version === undefined || version === null ? {} : { version }),
    ...(registry === undefined || registry === null ? {} : { registry }),
  });
  return read.ok ? read.source : null;
}
