import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join, resolve } from 'node:path';
import { npm } from '../package/nodes.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** The registry that npm uses unless it is told another one. */
export const REGISTRY = 'registry.npmjs.org';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Lock {
  readonly packages: Readonly<Record<string, Omit<Manifest, 'name'>>>;
}

/** A package as the registry has it. The tarball of a package for another platform is missing. */
interface RegistryPackage {
  readonly manifest: Manifest;
  readonly tarball: Buffer | null;
}

/** The registry of npm, with this package and those that it depends on. */
export class Registry {
  /** The paths of all requests. */
  readonly requested: string[] = [];
  readonly #packages: ReadonlyMap<string, RegistryPackage>;

  private constructor(packages: ReadonlyMap<string, RegistryPackage>) {
    this.#packages = packages;
  }

  /** Packs what is built, and the packages of `node_modules` that it depends on. Files are written to `directory`. */
  static async pack(directory: string): Promise<Registry> {
    mkdirSync(directory);
    const own: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const lock: Lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    const tarball = await pack(ROOT, directory);
    const found = new Map<string, RegistryPackage>([[own.name, { manifest: own, tarball }]]);
    const waiting = dependencies(own);
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      const path = join(ROOT, 'node_modules', name);
      const locked = lock.packages[`node_modules/${name}`];
      if (found.has(name) || locked === undefined) continue;
      // oxlint-disable-next-line no-await-in-loop -- one npm at a time
      const packed = existsSync(path) ? await pack(path, directory) : null;
      const manifest: Manifest = { ...locked, name };
      found.set(name, { manifest, tarball: packed });
      waiting.push(...dependencies(manifest));
    }
    return new Registry(found);
  }

  readonly answer: RequestListener = (request, response) => {
    const path = decodeURIComponent(request.url ?? '/').slice(1);
    this.requested.push(path);
    const [name = '', file] = path.split('/-/');
    const known = this.#packages.get(name);
    const tarball = known?.tarball ?? null;
    if (file !== undefined && tarball !== null) {
      response.end(tarball);
    } else if (file === undefined && known !== undefined) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(describe(known)));
    } else {
      response.statusCode = 404;
      response.end('{}');
    }
  };
}

async function pack(directory: string, into: string): Promise<Buffer> {
  const options = ['--ignore-scripts', '--silent', '--pack-destination', into];
  const name = (await npm(['pack', directory, ...options], directory)).trim();
  return readFileSync(join(into, name));
}

/** The description of a package with its only version. */
function describe({ manifest, tarball }: RegistryPackage): object {
  const { name, version } = manifest;
  const dist = {
    tarball: `https://${REGISTRY}/${name}/-/${version}.tgz`,
    ...(tarball === null ? {} : { integrity: `sha512-${hash('sha512', tarball, 'base64')}` }),
  };
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } };
}

function dependencies({ dependencies: needed, optionalDependencies: wanted }: Manifest): string[] {
  return Object.keys({ ...needed, ...wanted });
}
