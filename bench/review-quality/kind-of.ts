import type { Kind } from './corpus-case.ts';

/** By words in the rule's name; the first that fits counts. It covers the rules of all compared engines. */
const BY_WORDS: readonly (readonly [words: RegExp, kind: Kind])[] = [
  [/secrets\/|secretlint|^actionlint\/credentials/, 'secret'],
  [/script-injection|template-injection-in-workflow/, 'script-injection'],
  [/untrusted-checkout/, 'untrusted-checkout'],
  [/moving-action|unpinned-action|unpinned-image|missing_tag|latest_tag|latest-tag|missing-tag/, 'unpinned'],
  [/write-all|no-permissions|permission/, 'permissions'],
  [/secret-in|secrets-inherited|secret-printed|secret-traced|secrets-for|all-secrets/, 'secret-exposed'],
  [/environment-injection|unsecure-commands/, 'environment-injection'],
  [/bot-check/, 'bot-check'],
  [/self-hosted/, 'self-hosted'],
  [/cache-poisoning/, 'cache-poisoning'],
  [/pipe-to-shell/, 'pipe-to-shell'],
  [/artifact/, 'artifact'],
  [/unguarded-removal/, 'destructive'],
  [/tls-off|old-tls|host-key/, 'tls'],
  [/world-writable|temporary-file/, 'access'],
  [/^(?:dockerfilelint|dockerfile)\/|remote-add|runs-as-root|unsigned-packages/, 'container'],
  [/^infrastructure\/(?:terraform|kubernetes)/, 'infrastructure'],
  [/terraform|kubernetes|privileged/, 'infrastructure'],
  [/proto|pollut|object-injection/, 'prototype-pollution'],
  [/no-?sql/, 'nosql-injection'],
  [/sql/, 'sql-injection'],
  [/redos|regex|regexp|backtrack|quantifier|super-linear/, 'redos'],
  [/command|argument-injection|shell|spawn|child-process|os-command|S60[2-7]|S605/, 'command-injection'],
  [/deseriali|unserialize|pickle|yaml-load/, 'deserialisation'],
  [/ssrf|request-forgery|outgoing-request|forged-request/, 'ssrf'],
  [/redirect/, 'open-redirect'],
  [/traversal|fs-filename|zip-slip|path-expansion|S202|file-path|file-uploads/, 'path-traversal'],
  [
    /eval|code-from|code-injection|code-exec|new-func|implied-eval|script-url|template-from-text/,
    'code-injection',
  ],
  [/cross-site-scripting|html|xss|inner|dangerous|S701|escape|disable-mustache/, 'xss'],
  [/random|pseudo/, 'weak-random'],
  [/hash|cipher|crypto|weak-ssl|weak-key/, 'weak-crypto'],
  [/tls|certificate|unverified|hostname/, 'tls'],
  [/xxe|xml/, 'xxe'],
  [/timing/, 'timing'],
  [/cors|cookie|csrf|jwt|file-mode|S108|S306|temporary|temp-file|mode/, 'access'],
];

export function kindOf(rule: string): Kind {
  return BY_WORDS.find(([words]) => words.test(rule))?.[1] ?? 'other';
}
