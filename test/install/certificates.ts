import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificates {
  /** The path of the certificate of an authority that no system knows. */
  readonly authority: string;
  /** The key and the certificate of a server, in PEM. */
  readonly server: { readonly key: string; readonly cert: string };
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
const DAYS = ['-days', '2'];

/** Creates an authority and the certificate of a server with these names, which are valid from now on. */
export function createCertificates(directory: string, names: readonly string[]): Certificates {
  const openssl = (...args: readonly string[]) =>
    execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' });
  const authority = [
    '-subj',
    '/CN=The authority of a company',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
  ];
  openssl('req', '-x509', ...KEY, ...DAYS, ...authority);
  openssl('req', ...KEY, '-subj', '/CN=server', '-keyout', 'server.key', '-out', 'server.csr');
  const alternatives = names.map((name) => `DNS:${name}`).join(',');
  writeFileSync(join(directory, 'names'), `subjectAltName=${alternatives}\n`);
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names'];
  openssl('x509', '-req', '-in', 'server.csr', ...signed, ...DAYS, '-out', 'server.pem');
  const read = (name: string) => readFileSync(join(directory, name), 'utf8');
  return {
    authority: join(directory, 'ca.pem'),
    server: { key: read('server.key'), cert: read('server.pem') },
  };
}
