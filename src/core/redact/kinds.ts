import { isAddressPassword, looksSecret, SECRET_NAME } from './likely.ts';

/** One kind of secret that is recognisable by its form. */
export interface Kind {
  /** The text that people read instead of the secret. */
  name: string;
  /**
   * Every match contains one of these. Searching for them first is ten times faster than running the pattern.
   */
  mentions?: readonly string[];
  /**
   * Global. Hides the match except the group `before`. Each repetition is either bounded or of characters
   * that cannot match anything else, so matching takes linear time for every text.
   */
  pattern: RegExp;
  /** Rejects a match that only looks like a secret. */
  holds?: (groups: Readonly<Record<string, string | undefined>>) => boolean;
}

/** Where a token can begin: not after a letter or digit, unless those end an escape sequence. */
const START = '(?:(?<![A-Za-z0-9])|(?<=\\\\[nrt]|%[0-9A-Fa-f]{2}))';

function token(name: string, mentions: readonly string[], body: string): Kind {
  return { name, mentions, pattern: new RegExp(START + body, 'g') };
}

/**
 * The minimum lengths are below those of real tokens, so that a truncated token is still hidden. They are
 * above those of ordinary words with the same beginning.
 */
const TOKENS: readonly Kind[] = [
  // https://github.blog/engineering/behind-githubs-new-authentication-token-formats/
  token(
    'GitHub token',
    ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'],
    'gh[pousr]_[A-Za-z0-9_.-]{15,}[A-Za-z0-9_]',
  ),
  token('GitHub token', ['github_pat_'], 'github_pat_[A-Za-z0-9_]{16,}'),
  token('GitHub token', ['v1.'], 'v1\\.[0-9a-f]{40}(?![0-9a-f])'),
  // Of this app's own API: domain/api-token/api-token.ts.
  token('Countersign token', ['cst_'], 'cst_(?=[a-z]{0,60}\\d)[0-9a-hjkmnp-tv-z]{16,}'),
  // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-unique-ids
  token('AWS key', ['AKIA', 'ASIA', 'ABIA', 'ACCA'], 'A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}(?![A-Za-z0-9])'),
  token('Google key', ['AIza'], 'AIza[A-Za-z0-9_-]{24,}'),
  token('Google token', ['ya29.', 'GOCSPX-'], '(?:ya29\\.|GOCSPX-)[A-Za-z0-9_-]{16,}'),
  token('Slack token', ['xox', 'xapp-'], '(?:xox[abceoprs]|xapp)-[A-Za-z0-9-]{10,}'),
  {
    name: 'webhook address',
    mentions: ['hooks.slack.com', '/api/webhooks/'],
    pattern:
      /(?<before>hooks\.slack\.com\/(?:services|workflows|triggers)\/|discord(?:app)?\.com\/api\/webhooks\/)[\w/-]{16,}/g,
  },
  token('Stripe key', ['_live_', '_test_'], '[prs]k_(?:live|test)_[A-Za-z0-9]{10,}'),
  token('webhook secret', ['whsec_'], 'whsec_[A-Za-z0-9+/=]{16,}'),
  token('npm token', ['npm_'], 'npm_(?=[A-Za-z]{0,60}\\d)[A-Za-z0-9]{24,}'),
  token('PyPI token', ['pypi-'], 'pypi-AgE[A-Za-z0-9_-]{16,}'),
  token(
    'GitLab token',
    ['glpat-', 'glptt-', 'gldt-', 'glrt-', 'gloas-', 'glsoat-', 'glft-', 'glagent-', 'glcbt-', 'glimt-'],
    'gl(?:pat|ptt|dt|rt|oas|soat|ft|agent|cbt|imt)-(?=[A-Za-z_.-]{0,60}\\d)[A-Za-z0-9_.-]{15,}[A-Za-z0-9_]',
  ),
  token('Anthropic key', ['sk-ant-'], 'sk-ant-[A-Za-z0-9_-]{16,}'),
  token(
    'OpenAI key',
    ['sk-'],
    'sk-(?:(?:proj|svcacct|admin|or)-[A-Za-z0-9_-]{16,}|(?=[A-Za-z]{0,60}\\d)[A-Za-z0-9]{24,})',
  ),
  token('model key', ['gsk_', 'hf_', 'xai-'], '(?:gsk_|hf_|xai-)(?=[A-Za-z]{0,60}\\d)[A-Za-z0-9]{24,}'),
  {
    name: 'Azure key',
    mentions: ['AccountKey', 'SharedAccessKey'],
    pattern: /(?<before>(?:AccountKey|SharedAccessKey)=)[A-Za-z0-9+/]{24,}={0,2}/g,
  },
  { name: 'Azure signature', mentions: ['sig='], pattern: /(?<before>[?&;]sig=)[A-Za-z0-9%+/=_-]{20,}/g },
  token('Azure secret', ['Q~'], '[A-Za-z0-9_~.-]{3}\\dQ~[A-Za-z0-9_~.-]{24,}'),
  token('SendGrid key', ['SG.'], 'SG\\.(?=[A-Za-z_-]{0,60}\\d)[A-Za-z0-9_-]{16,}(?:\\.[A-Za-z0-9_-]*)?'),
  token('Twilio key', ['SK'], 'SK[0-9a-f]{32}(?![0-9A-Za-z])'),
  token('Vault token', ['hvs.', 'hvb.'], 'hv[sb]\\.[A-Za-z0-9_-]{20,}'),
  token(
    'token',
    ['do', 'dapi', 'dckr_pat_', 'shp', 'AGE-SECRET-KEY-1'],
    '(?:do[opr]_v1_[0-9a-f]{40,}|dapi[0-9a-f]{32}|dckr_pat_[A-Za-z0-9_-]{16,}|shp(?:at|ca|pa|ss)_[0-9a-f]{32}|AGE-SECRET-KEY-1[0-9A-Z]{40,})',
  ),
  // The lookbehind excludes the whole alphabet. Otherwise a text with many beginnings would be scanned to the
  // end from each.
  {
    name: 'JWT',
    mentions: ['eyJ'],
    pattern: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/g,
  },
];

const QUOTE = String.raw`\\{0,3}["'\x60]`;
const ASSIGNS = '(?:=>|:=|={1,3}|:)';

/** Secrets that are recognisable by their context. */
const IN_CONTEXT: readonly Kind[] = [
  {
    name: 'credentials',
    pattern: new RegExp(
      String.raw`(?<before>\b(?:authorization(?:${QUOTE})?[ \t]{0,4}${ASSIGNS}[ \t]{0,4}(?:${QUOTE})?(?:basic|bearer|token|negotiate|digest)|bearer)[ \t]{1,4})(?<value>[A-Za-z0-9+/=._~-]{12,})`,
      'gi',
    ),
    holds: ({ value = '' }) => looksSecret('token', value),
  },
  {
    name: 'password',
    mentions: ['://'],
    pattern: /(?<before>:\/\/[^\s/:@"'<>`]{0,100}:)(?<value>[^\s/"'<>`]{3,300})(?=@)/g,
    holds: ({ value = '' }) => isAddressPassword(value),
  },
  {
    name: 'token',
    mentions: ['://'],
    pattern: /(?<before>:\/\/)(?<value>[A-Za-z0-9_.-]{20,200})(?=@)/g,
    holds: ({ value = '' }) => looksSecret('token', value),
  },
  {
    name: 'password',
    mentions: ['-u', '--user'],
    pattern: /(?<before>\s(?:-u|--user)[ =]["']?[\w.@-]{1,60}:)(?<value>[^\s"'`]{6,200})/g,
    holds: ({ value = '' }) => looksSecret('password', value),
  },
  {
    name: 'secret',
    mentions: ['--'],
    pattern: new RegExp(
      String.raw`(?<before>--(?<name>[\w-]{0,20}${SECRET_NAME})[ \t]{1,4}["']?)(?<value>[^\s"'\x60]{8,400})`,
      'gi',
    ),
    holds: ({ name = '', value = '' }) => looksSecret(name, value),
  },
  {
    name: 'secret',
    pattern: new RegExp(
      String.raw`(?<before>(?<name>${SECRET_NAME})[\w-]{0,20}(?:${QUOTE}|\]){0,2}[ \t]{0,4}(?::[ \t]{0,4}(?:str|string)[ \t]{0,4}(?==))?${ASSIGNS}[ \t]{0,4}[bru]?(?:${QUOTE}))(?<value>[^"'\x60\s\\]{6,400})`,
      'gi',
    ),
    holds: ({ name = '', value = '' }) => looksSecret(name, value),
  },
  {
    name: 'secret',
    pattern: new RegExp(
      String.raw`(?<before>(?<name>${SECRET_NAME})[\w-]{0,20}[ \t]{0,4}${ASSIGNS}[ \t]{0,4})(?<value>[^\s"'\x60<>(){}[\],;\\]{8,400})(?![\w([{])`,
      'gi',
    ),
    holds: ({ name = '', value = '' }) => looksSecret(name, value),
  },
];

export const KINDS: readonly Kind[] = [...TOKENS, ...IN_CONTEXT];
