import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createKeychain } from '../../src/keys/keychain.ts';
import { KeyUnavailableError } from '../../src/protocol/api-key.ts';

// With a keychain: test/hostile/keychain.test.ts.
it.runIf(process.platform === 'linux')(
  'without a keychain, every use says what to do',
  async () => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'muster-keychain-')));
    try {
      // A session without a bus, as on a server or in a container.
      const keychain = createKeychain({ HOME: home, XDG_RUNTIME_DIR: home });
      const uses = [
        keychain.read('openrouter', 'work'),
        keychain.write('openrouter', 'work', 'sk-secret-key'),
        keychain.delete('openrouter', 'work'),
      ];
      const errors = uses.map((use) => use.catch((thrown: unknown): unknown => thrown));
      for (const error of await Promise.all<unknown>(errors)) {
        expect(error).toBeInstanceOf(KeyUnavailableError);
        expect(String(error)).toMatch(
          /^KeyUnavailableError: the keychain cannot be used for the account "work" of openrouter: .*\. Unlock it, or sign in with "muster login openrouter --account work --store file"$/,
        );
        expect(String(error)).not.toContain('sk-secret-key');
      }
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },
);
