import type { RuleName } from '../../../domain/skill/analyzer-rules.ts';
import type { Found } from '../each-file.ts';
import { hostOf } from './source.ts';

const REGISTRY =
  /^\s*(?:"?(?:@[\w.-]+:)?registry"?\s*[=\s]\s*|npmRegistryServer:\s*|-?\s*npmRegistryServer:\s*)["']?([^"'\s]+)/i;
const NO_PROOF = /^\s*(?:strict-ssl\s*=\s*false|enableStrictSsl:\s*false|unsafeHttpWhitelist:)/i;

/** Findings about registries in `.npmrc`, `.yarnrc` and `.yarnrc.yml`. */
export function registrySettings(text: string): Found<RuleName<'dependencies'>>[] {
  return text.split('\n').flatMap((written, index): Found<RuleName<'dependencies'>>[] => {
    const line = index + 1;
    if (NO_PROOF.test(written))
      return [{ rule: 'insecure-source', line, message: 'certificates are not checked' }];
    const address = REGISTRY.exec(written)?.[1];
    if (address === undefined) return [];
    if (/^http:/i.test(address))
      return [{ rule: 'insecure-source', line, message: 'a registry without encryption' }];
    return [
      { rule: 'registry-changed', line, message: hostOf(address) ?? 'an address put together elsewhere' },
    ];
  });
}
