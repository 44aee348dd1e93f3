import type { CorpusCase } from './corpus-case.ts';
import {
  ALPHANUMERIC,
  BASE64URL,
  DIGITS,
  HEX,
  LETTERS,
  LOWER,
  type RandomText,
  randomText,
  UPPER,
} from './random-text.ts';

type Make = (random: RandomText) => string;

/** `prefix` and then characters. The parts stand apart, so that no text of the repository looks like a secret. */
const after =
  (prefix: string, alphabet: string, length: number): Make =>
  (random) =>
    prefix + random.of(alphabet, length);

const jwt: Make = (random) =>
  [
    JSON.stringify({ alg: 'HS256', typ: 'JWT' }),
    JSON.stringify({ sub: random.of(DIGITS, 10), role: 'service' }),
  ]
    .map((part) => Buffer.from(part).toString('base64url'))
    .concat(random.of(BASE64URL, 43))
    .join('.');

/** By service, after their public documentation: the name of the setting, and how its value is made. */
const TOKENS: Readonly<Record<string, readonly [setting: string, make: Make]>> = {
  'github-classic': ['GITHUB_TOKEN', after('ghp_', ALPHANUMERIC, 36)],
  'github-fine-grained': ['GH_PAT', (r) => `github_pat_${r.of(ALPHANUMERIC, 22)}_${r.of(ALPHANUMERIC, 59)}`],
  'github-app': ['INSTALLATION_TOKEN', after('ghs_', ALPHANUMERIC, 36)],
  'gitlab-personal': ['GITLAB_TOKEN', after('glpat-', BASE64URL, 20)],
  'gitlab-deploy': ['DEPLOY', after('gldt-', BASE64URL, 20)],
  'gitlab-runner': ['RUNNER', after('glrt-', BASE64URL, 20)],
  'slack-bot': ['SLACK_BOT', (r) => `xoxb-${r.of(DIGITS, 12)}-${r.of(DIGITS, 12)}-${r.of(ALPHANUMERIC, 24)}`],
  'slack-user': [
    'SLACK_USER',
    (r) => `xoxp-${r.of(DIGITS, 12)}-${r.of(DIGITS, 12)}-${r.of(DIGITS, 12)}-${r.of(HEX, 32)}`,
  ],
  'slack-app': [
    'SLACK_APP',
    (r) => `xapp-1-A${r.of(UPPER + DIGITS, 10)}-${r.of(DIGITS, 13)}-${r.of(HEX, 64)}`,
  ],
  'slack-webhook': [
    'HOOK',
    (r) =>
      `https://hooks.slack.com/services/T${r.of(UPPER + DIGITS, 8)}/B${r.of(UPPER + DIGITS, 10)}/${r.of(ALPHANUMERIC, 24)}`,
  ],
  'stripe-secret': ['STRIPE', after('sk_live_', ALPHANUMERIC, 24)],
  'stripe-restricted': ['STRIPE_RESTRICTED', after('rk_live_', ALPHANUMERIC, 40)],
  'stripe-webhook': ['STRIPE_ENDPOINT', after('whsec_', ALPHANUMERIC, 32)],
  'twilio-key': ['TWILIO_KEY_SID', after('SK', HEX, 32)],
  'twilio-auth': ['TWILIO_AUTH_TOKEN', after('', HEX, 32)],
  sendgrid: ['MAIL', (r) => `SG.${r.of(BASE64URL, 22)}.${r.of(BASE64URL, 43)}`],
  mailgun: ['MAILGUN', after('key-', HEX, 32)],
  mailchimp: ['MAILCHIMP', (r) => `${r.of(HEX, 32)}-us${r.of('123456789', 1)}`],
  npm: ['NPM', after('npm_', ALPHANUMERIC, 36)],
  pypi: ['TWINE', after('pypi-AgEIcHlwaS5vcmc', BASE64URL, 120)],
  rubygems: ['GEM_HOST', after('rubygems_', HEX, 48)],
  'crates-io': ['CARGO_REGISTRY_TOKEN', after('cio', ALPHANUMERIC, 32)],
  'docker-hub': ['DOCKER', after('dckr_pat_', BASE64URL, 27)],
  'digital-ocean': ['DO', after('dop_v1_', HEX, 64)],
  heroku: ['HEROKU_API_KEY', (r) => r.uuid()],
  'azure-storage': [
    'STORAGE',
    (r) =>
      `DefaultEndpointsProtocol=https;AccountName=${r.of(LOWER, 10)};AccountKey=${r.bytes(64).toString('base64')};EndpointSuffix=core.windows.net`,
  ],
  'azure-client': ['AZURE_CLIENT_SECRET', (r) => `${r.of(ALPHANUMERIC, 3)}8Q~${r.of(`${BASE64URL}.~`, 34)}`],
  'azure-sas': [
    'BLOB_URL',
    (r) =>
      `https://${r.of(LOWER, 9)}.blob.core.windows.net/files?sv=2024-11-04&ss=b&srt=o&sp=rw&sig=${encodeURIComponent(r.bytes(32).toString('base64'))}`,
  ],
  'google-api': ['MAPS', after('AIza', BASE64URL, 35)],
  'google-oauth': ['GOOGLE_CLIENT', after('GOCSPX-', BASE64URL, 28)],
  'aws-key-id': ['AWS_KEY_ID', after('AKIA', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)],
  'aws-secret': ['AWS_SECRET_ACCESS_KEY', (r) => r.bytes(30).toString('base64')],
  'aws-session': ['AWS_SESSION_TOKEN', (r) => `IQoJb3JpZ2luX2Vj${r.bytes(180).toString('base64')}`],
  cloudflare: ['CLOUDFLARE_API_TOKEN', after('', BASE64URL, 40)],
  datadog: ['DD_API_KEY', after('', HEX, 32)],
  'new-relic': ['NEW_RELIC', after('NRAK-', UPPER + DIGITS, 27)],
  sentry: [
    'SENTRY',
    (r) =>
      `sntrys_${Buffer.from(JSON.stringify({ iat: 1, url: 'https://sentry.io', org: r.of(LOWER, 8) }))
        .toString('base64')
        .replace(/=+$/, '')}_${r.of(ALPHANUMERIC, 43)}`,
  ],
  'sentry-user': ['SENTRY_USER', after('sntryu_', HEX, 64)],
  pagerduty: ['PAGERDUTY_TOKEN', (r) => `u+${r.of(BASE64URL, 18)}`],
  linear: ['LINEAR', after('lin_api_', ALPHANUMERIC, 40)],
  notion: ['NOTION', after('ntn_', ALPHANUMERIC, 46)],
  figma: ['FIGMA', after('figd_', BASE64URL, 40)],
  airtable: ['AIRTABLE', (r) => `pat${r.of(ALPHANUMERIC, 14)}.${r.of(HEX, 64)}`],
  shopify: ['SHOPIFY', after('shpat_', HEX, 32)],
  square: ['SQUARE', after('EAAA', BASE64URL, 60)],
  paypal: ['PAYPAL_CLIENT_SECRET', after('E', BASE64URL, 79)],
  'discord-bot': ['BOT', (r) => `M${r.of(ALPHANUMERIC, 25)}.G${r.of(BASE64URL, 5)}.${r.of(BASE64URL, 38)}`],
  'discord-webhook': [
    'HOOK',
    (r) => `https://discord.com/api/webhooks/${r.of(DIGITS, 18)}/${r.of(BASE64URL, 68)}`,
  ],
  telegram: ['BOT', (r) => `${r.of('123456789', 10)}:AA${r.of(BASE64URL, 33)}`],
  okta: ['OKTA_API_TOKEN', (r) => `00${r.of(BASE64URL, 40)}`],
  auth0: ['AUTH0_CLIENT_SECRET', after('', BASE64URL, 64)],
  vault: ['VAULT', after('hvs.', BASE64URL, 92)],
  terraform: ['TFC', (r) => `${r.of(ALPHANUMERIC, 14)}.atlasv1.${r.of(BASE64URL, 67)}`],
  databricks: ['DATABRICKS', after('dapi', HEX, 32)],
  'hugging-face': ['HF', after('hf_', LETTERS, 34)],
  openai: ['OPENAI', (r) => `sk-proj-${r.of(BASE64URL, 74)}T3BlbkFJ${r.of(BASE64URL, 74)}`],
  'openai-old': ['OPENAI_KEY', (r) => `sk-${r.of(ALPHANUMERIC, 20)}T3BlbkFJ${r.of(ALPHANUMERIC, 20)}`],
  anthropic: ['ANTHROPIC', (r) => `sk-ant-api03-${r.of(BASE64URL, 93)}AA`],
  groq: ['GROQ', after('gsk_', ALPHANUMERIC, 52)],
  replicate: ['REPLICATE', after('r8_', ALPHANUMERIC, 37)],
  perplexity: ['PERPLEXITY', after('pplx-', ALPHANUMERIC, 48)],
  pulumi: ['PULUMI', after('pul-', HEX, 40)],
  postman: ['POSTMAN', (r) => `PMAK-${r.of(HEX, 24)}-${r.of(HEX, 34)}`],
  'grafana-service': ['GRAFANA', (r) => `glsa_${r.of(ALPHANUMERIC, 32)}_${r.of(HEX, 8)}`],
  'grafana-cloud': ['GRAFANA_CLOUD', (r) => `glc_${r.bytes(75).toString('base64')}`],
  supabase: ['SUPABASE', after('sbp_', HEX, 40)],
  'supabase-secret': ['SUPABASE_BACKEND', (r) => `sb_secret_${r.of(BASE64URL, 22)}_${r.of(BASE64URL, 8)}`],
  planetscale: ['PLANETSCALE', after('pscale_tkn_', BASE64URL, 43)],
  vercel: ['VERCEL_TOKEN', after('', ALPHANUMERIC, 24)],
  netlify: ['NETLIFY', after('nfp_', ALPHANUMERIC, 36)],
  fastly: ['FASTLY_API_TOKEN', after('', BASE64URL, 32)],
  doppler: ['DOPPLER', after('dp.pt.', ALPHANUMERIC, 43)],
  age: ['AGE', after('AGE-SECRET-KEY-1', 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)],
  'jwt-token': ['SERVICE_ROLE', jwt],
  algolia: ['ALGOLIA_ADMIN_KEY', after('', HEX, 32)],
  brevo: ['BREVO', (r) => `xkeysib-${r.of(HEX, 64)}-${r.of(ALPHANUMERIC, 16)}`],
  dynatrace: ['DYNATRACE', (r) => `dt0c01.${r.of(UPPER + DIGITS, 24)}.${r.of(UPPER + DIGITS, 64)}`],
  artifactory: ['ARTIFACTORY', after('AKCp', ALPHANUMERIC, 69)],
  'atlassian-cloud': ['JIRA', (r) => `ATATT3xFfGF0${r.of(BASE64URL, 172)}=${r.of('0123456789ABCDEF', 8)}`],
  'bitbucket-app': ['BITBUCKET_APP_PASSWORD', (r) => `ATBB${r.of(ALPHANUMERIC, 32)}`],
  buildkite: ['BUILDKITE', after('bkua_', HEX, 40)],
  launchdarkly: ['LAUNCHDARKLY', (r) => `sdk-${r.uuid()}`],
  'jwt-key': ['JWT_SECRET', after('', ALPHANUMERIC, 48)],
  'session-key': ['SESSION_SECRET', (r) => r.bytes(32).toString('base64')],
  'webhook-key': ['WEBHOOK_SIGNING_SECRET', after('', HEX, 64)],
  'encryption-key': ['ENCRYPTION_KEY', after('', HEX, 64)],
  'database-password': ['DB_PASSWORD', (r) => `${r.of(LETTERS, 9)}!${r.of(DIGITS, 3)}`],
  'private-format': ['ACME_ACCESS_TOKEN', after('acme_', ALPHANUMERIC, 40)],
  'partner-key': ['PARTNER_KEY', after('', ALPHANUMERIC, 40)],
};

/** Ways in which people write a value down. */
const FILES: readonly [
  (setting: string, value: string) => [path: string, text: string, line: number],
  ...((setting: string, value: string) => [string, string, number])[],
] = [
  (setting, value) => ['deploy/.env', `# production\nLOG_LEVEL=info\n${setting}=${value}\n`, 3],
  (setting, value) => [
    'client.js',
    `const { createClient } = require('./client');\n\nconst ${setting} = '${value}';\n\nmodule.exports = createClient(${setting});\n`,
    3,
  ],
  (setting, value) => [
    'settings.py',
    `import os\n\nDEBUG = os.environ.get("DEBUG") == "1"\n${setting} = "${value}"\n`,
    4,
  ],
  (setting, value) => ['config.yaml', `server:\n  port: 8080\nenv:\n  ${setting}: ${value}\n`, 4],
  (setting, value) => ['config.json', `{\n  "port": 8080,\n  "${setting}": "${value}"\n}\n`, 3],
  (setting, value) => [
    'main.go',
    `package main\n\nimport "os"\n\nfunc init() {\n\tos.Setenv("${setting}", "${value}")\n}\n`,
    6,
  ],
];

const PRIVATE_KEY = ['PRIVATE', 'KEY'].join(' ');

function pem(random: RandomText, kind: string): string {
  const body = random
    .bytes(600)
    .toString('base64')
    .replace(/(.{64})/g, '$1\n');
  return `-----BEGIN ${kind}${PRIVATE_KEY}-----\n${body}\n-----END ${kind}${PRIVATE_KEY}-----\n`;
}

/** Secrets with a file format of their own. */
const FORMATS: Readonly<Record<string, (random: RandomText) => [path: string, text: string, line: number]>> =
  {
    'pem-rsa': (r) => ['deploy.pem', pem(r, 'RSA '), 1],
    'pem-pkcs8': (r) => ['server.key', pem(r, ''), 1],
    'pem-ssh': (r) => ['id_ed25519', pem(r, 'OPENSSH '), 1],
    'pem-ec': (r) => ['signing.txt', `The key for signing:\n\n${pem(r, 'EC ')}`, 3],
    'service-account': (r) => [
      'account.json',
      `${JSON.stringify({ type: 'service_account', project_id: 'shop', private_key_id: r.of(HEX, 40), private_key: pem(r, '') }, null, 2)}\n`,
      5,
    ],
    npmrc: (r) => ['.npmrc', `registry=https://npm.acme.dev/\n//npm.acme.dev/:_authToken=${r.uuid()}\n`, 2],
    'npmrc-password': (r) => [
      '.npmrc',
      `//npm.acme.dev/:username=ci\n//npm.acme.dev/:_password=${r.bytes(18).toString('base64')}\n`,
      2,
    ],
    netrc: (r) => ['.netrc', `machine api.acme.dev\n  login ci\n  password ${r.of(ALPHANUMERIC, 20)}\n`, 3],
    pypirc: (r) => ['.pypirc', `[pypi]\nusername = ci\npassword = ${r.of(ALPHANUMERIC, 16)}\n`, 3],
    kubeconfig: (r) => [
      'kubeconfig.yaml',
      `apiVersion: v1\nkind: Config\nusers:\n  - name: admin\n    user:\n      client-key-data: ${r.bytes(240).toString('base64')}\n`,
      6,
    ],
    'kubernetes-secret': (r) => [
      'secret.yaml',
      `apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  password: ${r.bytes(18).toString('base64')}\n`,
      6,
    ],
    'docker-config': (r) => [
      'config.json',
      `{\n  "auths": {\n    "registry.acme.dev": {\n      "auth": "${Buffer.from(`ci:${r.of(ALPHANUMERIC, 24)}`).toString('base64')}"\n    }\n  }\n}\n`,
      4,
    ],
    'postgres-url': (r) => [
      'db.ts',
      `export const url = 'postgres://app:${r.of(ALPHANUMERIC, 16)}@db.acme.dev:5432/shop';\n`,
      1,
    ],
    'mongodb-url': (r) => [
      'db.rb',
      `Mongo::Client.new("mongodb+srv://app:${r.of(ALPHANUMERIC, 16)}@cluster0.acme.mongodb.net/shop")\n`,
      1,
    ],
    'redis-url': (r) => [
      'cache.yml',
      `cache:\n  url: redis://:${r.of(ALPHANUMERIC, 24)}@cache.acme.dev:6379/0\n`,
      2,
    ],
    'amqp-url': (r) => [
      'queue.go',
      `package queue\n\nconst address = "amqp://worker:${r.of(ALPHANUMERIC, 16)}@mq.acme.dev:5672/"\n`,
      3,
    ],
    'basic-auth-url': (r) => [
      'fetch.sh',
      `#!/bin/sh\ncurl -sf https://ci:${r.of(ALPHANUMERIC, 20)}@repo.acme.dev/latest.tar.gz -o latest.tar.gz\n`,
      2,
    ],
    'curl-bearer': (r) => [
      'call.sh',
      `#!/bin/sh\ncurl -H "Authorization: Bearer ${r.of(ALPHANUMERIC, 40)}" https://api.acme.dev/v1/orders\n`,
      2,
    ],
    'curl-user': (r) => [
      'push.sh',
      `#!/bin/sh\ncurl -u deploy:${r.of(ALPHANUMERIC, 20)} -T build.zip https://files.acme.dev/\n`,
      2,
    ],
    'authorization-header': (r) => [
      'api.ts',
      `export const headers = {\n  accept: 'application/json',\n  authorization: 'Basic ${Buffer.from(`ci:${r.of(ALPHANUMERIC, 24)}`).toString('base64')}',\n};\n`,
      3,
    ],
    'jdbc-properties': (r) => [
      'application.properties',
      `spring.datasource.username=app\nspring.datasource.password=${r.of(ALPHANUMERIC, 14)}\n`,
      2,
    ],
    'ado-net': (r) => [
      'appsettings.json',
      `{\n  "ConnectionStrings": {\n    "Main": "Server=db.acme.dev;Database=shop;User Id=app;Password=${r.of(ALPHANUMERIC, 16)};"\n  }\n}\n`,
      3,
    ],
    'terraform-variable': (r) => [
      'prod.tfvars',
      `region = "eu-west-1"\ndb_password = "${r.of(ALPHANUMERIC, 18)}"\n`,
      2,
    ],
    'dockerfile-env': (r) => [
      'Dockerfile',
      `FROM node:24.1.0\nENV API_TOKEN=${r.of(ALPHANUMERIC, 32)}\nCMD ["node", "main.js"]\n`,
      2,
    ],
    'java-constant': (r) => [
      'Client.java',
      `class Client {\n    private static final String API_KEY = "${r.of(ALPHANUMERIC, 32)}";\n}\n`,
      2,
    ],
    'php-define': (r) => ['config.php', `<?php\ndefine('DB_PASSWORD', '${r.of(ALPHANUMERIC, 16)}');\n`, 2],
    'xml-setting': (r) => [
      'web.config',
      `<appSettings>\n  <add key="ApiSecret" value="${r.of(ALPHANUMERIC, 32)}" />\n</appSettings>\n`,
      2,
    ],
    'argument-list': (r) => ['job.yml', `command:\n  - worker\n  - --api-key=${r.of(ALPHANUMERIC, 32)}\n`, 3],
    'pgp-key': (r) => [
      'release.asc',
      `-----BEGIN PGP ${PRIVATE_KEY} BLOCK-----\n\n${r
        .bytes(300)
        .toString('base64')
        .replace(/(.{64})/g, '$1\n')}\n-----END PGP ${PRIVATE_KEY} BLOCK-----\n`,
      1,
    ],
  };

/** What looks like a secret and is none. */
const LOOK_ALIKES: Readonly<Record<string, (random: RandomText) => [path: string, text: string]>> = {
  'sha256-sums': (r) => [
    'SHA256SUMS',
    `${r.of(HEX, 64)}  shop-1.2.0.tar.gz\n${r.of(HEX, 64)}  shop-1.2.0.zip\n`,
  ],
  'git-commits': (r) => ['revisions.txt', `base ${r.of(HEX, 40)}\nhead ${r.of(HEX, 40)}\n`],
  'commit-in-code': (r) => [
    'vendor.ts',
    `export const UPSTREAM_COMMIT = '${r.of(HEX, 40)}';\nexport const key = 'name';\n`,
  ],
  uuids: (r) => [
    'ids.ts',
    `export const TENANTS = ['${r.uuid()}', '${r.uuid()}'];\nexport const tokenId = '${r.uuid()}';\n`,
  ],
  'lock-file': (r) => [
    'package-lock.json',
    `{\n  "packages": {\n    "node_modules/token-bucket": {\n      "integrity": "sha512-${r.bytes(64).toString('base64')}"\n    }\n  }\n}\n`,
  ],
  'script-integrity': (r) => [
    'index.html',
    `<script src="https://cdn.example.com/a.js" integrity="sha384-${r.bytes(48).toString('base64')}" crossorigin="anonymous"></script>\n`,
  ],
  'go-sum': (r) => ['go.sum', `github.com/acme/token v1.2.0 h1:${r.bytes(32).toString('base64')}\n`],
  'cargo-lock': (r) => [
    'Cargo.lock',
    `[[package]]\nname = "secrecy"\nversion = "0.8.0"\nchecksum = "${r.of(HEX, 64)}"\n`,
  ],
  'aws-example': () => [
    'README.md',
    `Set \`aws_access_key_id = ${['AKIA', 'IOSFODNN7EXAMPLE'].join('')}\` and\n\`aws_secret_access_key = ${['wJalrXUtnFEMI/K7MDENG/', 'bPxRfiCYEXAMPLEKEY'].join('')}\`.\n`,
  ],
  'readme-placeholder': () => [
    'README.md',
    ['Put `API_TOKEN=your-token-here` and `STRIPE_KEY=sk_live_', '` into `.env`.\n'].join('x'.repeat(24)),
  ],
  'env-example': () => [
    '.env.example',
    'DB_PASSWORD=changeme\nAPI_TOKEN=<your token>\nSESSION_SECRET=replace-me-with-32-characters\n',
  ],
  'env-references': () => [
    'config.yaml',
    'password: %DB_PASSWORD%\ntoken: "{{ .Values.token }}"\napi_key: $API_KEY\nsecret_key: !Ref SecretKey\n',
  ],
  'code-references': () => [
    'load.ts',
    "const password = process.env.DB_PASSWORD ?? '';\nconst token = await secrets.get('shop/api-token-2');\nconst apiKey = config.require('stripe.apiKey1');\n",
  ],
  'secret-names': () => [
    'vault.py',
    'TOKEN_URL = "https://login.example.com/oauth2/v2.0/token"\nSECRET_NAME = "projects/shop/secrets/db-password-v2"\nPASSWORD_'.concat(
      'FIELD = "#password-input-2"\n',
    ),
  ],
  'base64-image': (r) => [
    'icon.css',
    `.icon {\n  background: url("data:image/png;base64,${r.bytes(240).toString('base64')}");\n}\n`,
  ],
  'minified-code': (r) => [
    'app.min.js',
    `!function(e,t){var n=e.key,r="${r.of(LETTERS, 8)}";t.token=n?r:0}(${r.of(LOWER, 2)},window);\n`,
  ],
  'public-key': (r) => [
    'jwks.pem',
    `-----BEGIN PUBLIC KEY-----\n${r
      .bytes(270)
      .toString('base64')
      .replace(/(.{64})/g, '$1\n')}\n-----END PUBLIC KEY-----\n`,
  ],
  certificate: (r) => [
    'ca.pem',
    `-----BEGIN CERTIFICATE-----\n${r
      .bytes(600)
      .toString('base64')
      .replace(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`,
  ],
  'ssh-public-key': (r) => [
    'authorized_keys',
    `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${r.of(ALPHANUMERIC, 43)} ci@acme.dev\n`,
  ],
  'test-vector': (r) => [
    'test/hkdf.test.ts',
    `test.each([['${r.of(HEX, 44)}', '${r.of(HEX, 84)}']])('derives %s', (input, expected) => {\n  expect(derive(input)).toBe(expected);\n});\n`,
  ],
  'css-tokens': () => [
    'tokens.json',
    '{\n  "tokenColor": "#3f6ad8",\n  "token.spacing.large": "24px-to-32px-fluid",\n  "keyframes": "fade-in-up-200ms"\n}\n',
  ],
  'translation-keys': () => [
    'en.json',
    '{\n  "password.reset.title2": "Choose-a-new-password",\n  "login.password": "Password",\n  "api_key.help": "Your-key-is-on-page-2"\n}\n',
  ],
  'token-types': () => [
    'lexer.ts',
    "export const TOKEN_ARROW = 'token.arrow.2';\nexport const SECRET_HEADER = 'x-secret-token-v2';\nexport const accessTokenName = 'access_token_v1';\n",
  ],
  'password-rules': () => [
    'validate.ts',
    "export const PASSWORD_RULE = /^(?=.*[0-9])(?=.*[a-z]).{8,}$/;\nexport const passwordHint = 'At-least-8-characters';\n",
  ],
  'local-database': () => [
    'compose.yaml',
    'services:\n  db:\n    environment:\n      POSTGRES_PASSWORD: postgres\n      DATABASE_URL: postgres://postgres:postgres@localhost:5432/postgres\n',
  ],
  'api-docs-jwt': () => [
    'docs/auth.md',
    `The header is \`Authorization: Bearer <token>\`. A token looks like \`${['eyJhbGciOi', '...'].join('')}\`.\n`,
  ],
  'url-with-user': () => [
    'clone.md',
    'Clone `ssh://git@git.example.com/shop.git` or `https://user:password@git.example.com/shop.git`.\n',
  ],
  'regexp-of-token': () => [
    'patterns.ts',
    "export const GITHUB_TOKEN = /ghp_[A-Za-z0-9]{36}/;\nexport const KEY_PATTERN = 'AKIA[0-9A-Z]{16}';\n",
  ],
  'nix-hash': (r) => [
    'flake.nix',
    `{\n  src = fetchurl {\n    sha256 = "${r.of('0123456789abcdfghijklmnpqrsvwxyz', 52)}";\n    secretName = "db-credentials-1";\n  };\n}\n`,
  ],
  'docker-digest': (r) => [
    'Dockerfile',
    `FROM node:24.1.0@sha256:${r.of(HEX, 64)}\nUSER node\nCMD ["node", "main.js"]\n`,
  ],
  'action-digest': (r) => ['job.yml', `steps:\n  - uses: acme/token-action@${r.of(HEX, 40)}\n`],
  'masked-value': () => [
    'log.txt',
    `token=${'*'.repeat(24)}\npassword: [redacted]\napi_key=${'x'.repeat(32)}\n`,
  ],
  'fake-in-fixture': () => ['fixtures/user.json', '{\n  "password": "secret",\n  "token": "test-token"\n}\n'],
  'public-ids': (r) => [
    'analytics.ts',
    `export const MEASUREMENT = 'G-${r.of(UPPER + DIGITS, 10)}';\nexport const publishableKey = process.env.PUBLIC_KEY;\nexport const SITE = 'UA-${r.of(DIGITS, 8)}-1';\n`,
  ],
  'etag-and-nonce': (r) => ['headers.txt', `ETag: "${r.of(HEX, 32)}"\nX-Request-Id: ${r.uuid()}\n`],
  'kubernetes-reference': () => [
    'pod.yaml',
    'env:\n  - name: DB_PASSWORD\n    valueFrom:\n      secretKeyRef:\n        name: db-credentials-v2\n        key: password\n',
  ],
  'terraform-reference': () => [
    'main.tf',
    'resource "db" "main" {\n  password = var.db_password\n  token    = data.vault_secret.main.token_v2\n}\n',
  ],
  'python-getpass': () => [
    'login.py',
    'import getpass\nimport os\n\npassword = getpass.getpass("Password-for-user-1: ")\ntoken = os.environ["API_TOKEN_V2"]\n',
  ],
  'sentry-dsn-doc': () => ['docs/errors.md', 'Set `SENTRY_DSN=https://<key>@o0.ingest.sentry.io/0`.\n'],
  'snapshot-hash': (r) => [
    'build.json',
    `{\n  "cacheKey": "v2-linux-node24",\n  "contentHash": "${r.of(HEX, 32)}"\n}\n`,
  ],
};

/** Generated secrets in files as people write them, and look-alikes. The same on every machine. */
export function secretCases(): CorpusCase[] {
  const tokens = Object.entries(TOKENS).map(([service, [setting, make]]): CorpusCase => {
    const random = randomText(service);
    const [path, text, line] = random.pick(FILES)(setting, make(random));
    return found(`secret-${service}`, path, text, line);
  });
  const formats = Object.entries(FORMATS).map(([format, make]): CorpusCase => {
    const [path, text, line] = make(randomText(format));
    return found(`secret-${format}`, path, text, line);
  });
  const lookAlikes = Object.entries(LOOK_ALIKES).map(([name, make]): CorpusCase => {
    const [path, text] = make(randomText(name));
    return {
      name: `look-alike-${name}`,
      group: 'secrets',
      kind: 'secret',
      fixed: { path: `src/look-alike-${name}/${path}`, text },
    };
  });
  return [...tokens, ...formats, ...lookAlikes];
}

function found(name: string, path: string, text: string, line: number): CorpusCase {
  return {
    name,
    group: 'secrets',
    kind: 'secret',
    weak: { path: `src/${name}/${path}`, text, places: [line] },
  };
}
