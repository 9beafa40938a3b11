import { merge } from './merge.js';
import { setPath } from './paths.js';

/** Combines the texts of JSON files, and then `KEY.PATH=VALUE` overrides. Later ones win. */
export function loadConfig(texts, overrides = []) {
  const config = texts.map((text) => JSON.parse(text)).reduce(merge, {});
  for (const override of overrides) {
    const at = override.indexOf('=');
    setPath(config, override.slice(0, at), override.slice(at + 1));
  }
  return config;
}
