import type { CloudDeps, CloudKey, CloudKeySource } from './cloud-deps.ts';

/** Reads the key of a cloud. Each cloud is loaded only when it is used. Rejects with KeyUnavailableError. */
export async function readCloudKey(source: CloudKeySource, deps: CloudDeps): Promise<CloudKey> {
  switch (source.kind) {
    case 'aws':
      return (await import('./aws.ts')).readAwsKey(source, deps);
    case 'google':
      return (await import('./google.ts')).readGoogleToken(deps);
    case 'azure':
      return (await import('./azure.ts')).readAzureToken(deps);
  }
}
