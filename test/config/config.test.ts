import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gitHubPages, readPages } from '../../src/config/addresses.ts';
import { readConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/fields.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pkcs1 = rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const pkcs8 = rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const encrypted = rsa.privateKey
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
  .toString();
const publicKey = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const ecKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const DAYS_90 = 90 * 86_400_000;
const SECRET = 'a-long-enough-secret';

const app: Environment = { APP_ID: '123456', PRIVATE_KEY: pkcs1, WEBHOOK_SECRET: SECRET };

function configOf(env: Environment, files: Record<string, string> = {}) {
  const result = readConfig(env, fileReader(files));
  if (!result.ok) throw new Error(result.diagnostics.join('\n'));
  return result.config;
}

function faultsOf(env: Environment, files: Record<string, string> = {}): string[] {
  const result = readConfig(env, fileReader(files));
  return result.ok ? [] : result.diagnostics;
}

function fileReader(files: Record<string, string>) {
  return (path: string) => {
    const found = files[path];
    if (found === undefined) throw Object.assign(new Error(`open '${path}'`), { code: 'ENOENT' });
    return found;
  };
}

describe('readConfig', () => {
  it('fills in everything that has a default', () => {
    expect(configOf(app)).toEqual({
      kind: 'app',
      appId: 123456,
      privateKey: pkcs8,
      webhookSecret: SECRET,
      githubApiUrl: 'https://api.github.com',
      host: '0.0.0.0',
      port: 3000,
      publicUrl: undefined,
      databaseUrl: 'sqlite:data/countersign.db',
      artifactsUrl: 'file:data/artifacts',
      logLevel: 'info',
      studio: { isPublic: false, operators: [] },
      metricsAccess: { own: { host: '127.0.0.1', port: 9464, isGiven: false } },
      retention: { bodies: DAYS_90, runs: DAYS_90, artifacts: DAYS_90, traces: DAYS_90 },
      workers: { reviews: 16, others: 16 },
      settings: expect.any(Array),
    });
  });

  it('reads the indexes of skills, and how often they are checked', () => {
    const text = 'https://a.example/index.json, http://127.0.0.1:8080/index.json';
    expect(configOf({ ...app, COUNTERSIGN_SKILL_INDEXES: text }).skillIndexes).toEqual({
      indexes: [new URL('https://a.example/index.json'), new URL('http://127.0.0.1:8080/index.json')],
      everyMs: 86_400_000,
    });
    expect(configOf({ ...app, COUNTERSIGN_SKILL_CHECK: '2h' }).skillIndexes).toBeUndefined();
  });

  it.each([
    [
      'COUNTERSIGN_SKILL_INDEXES',
      'http://a.example/index.json',
      'must be addresses of indexes: an address must be https',
    ],
    ['COUNTERSIGN_SKILL_INDEXES', 'index.json', 'must be addresses of indexes: it is no web address'],
    [
      'COUNTERSIGN_SKILL_INDEXES',
      'https://me:pw@a.example/i',
      'must be addresses of indexes: an address has no user',
    ],
    ['COUNTERSIGN_SKILL_CHECK', '5m', 'must be a length of time from 1h to 30d'],
    ['COUNTERSIGN_SKILL_CHECK', 'daily', 'must be a length of time from 1h to 30d'],
  ])('refuses %s=%s', (name, value, diagnostic) => {
    expect(faultsOf({ ...app, [name]: value })).toEqual([expect.stringContaining(`${name} ${diagnostic}`)]);
  });

  it.each(['COUNTERSIGN_WORKERS', 'COUNTERSIGN_REVIEW_WORKERS'])('reads %s within its bounds', (name) => {
    const workers = (value: string) => {
      const { reviews, others } = configOf({ ...app, [name]: value }).workers ?? {};
      return name === 'COUNTERSIGN_WORKERS' ? [others, reviews] : [reviews, others];
    };
    expect(workers('1')).toEqual([1, 16]);
    expect(workers('64')).toEqual([64, 16]);
    for (const value of ['0', '65', '1.5', '-1', 'many'])
      expect(faultsOf({ ...app, [name]: value })).toEqual([`${name} must be a whole number from 1 to 64`]);
  });

  it.each([
    [undefined, undefined],
    ['web', [true, false, false, false]],
    ['worker, studio', [false, true, false, true]],
    ['scheduler', [false, false, true, false]],
    ['web,worker,scheduler,studio', [true, true, true, true]],
  ])('reads ROLE=%s for a database that processes can share', (ROLE, roles) => {
    const read = configOf({ ...app, DATABASE_URL: 'postgres://app@db/countersign', ...(ROLE && { ROLE }) });
    expect(read.roles && Object.values(read.roles)).toEqual(roles);
  });

  it('refuses a ROLE that there is not, and one that leaves work of an SQLite file to nobody', () => {
    const DATABASE_URL = 'postgres://app@db/countersign';
    expect(faultsOf({ ...app, DATABASE_URL, ROLE: 'web,cron' })).toEqual([
      'ROLE must be one or several of web, worker, scheduler, studio',
    ]);
    expect(faultsOf({ ...app, ROLE: 'web' })).toEqual([
      'ROLE can be set only with PostgreSQL (DATABASE_URL): one process does everything on an SQLite file',
    ]);
    expect(configOf({ ...app, ROLE: 'web,worker,studio' }).roles).toBeDefined();
  });

  it.each([
    ['30d', [30, 30, 30, 30]],
    ['off', [null, null, null, null]],
    ['bodies:14d, runs:365d,artifacts:90d,traces:30d', [14, 365, 90, 30]],
    ['bodies:1d', [1, 90, 90, 90]],
    ['runs:off,traces:48h', [90, null, 90, 2]],
  ])('reads RETENTION=%s', (value, days) => {
    const [bodies, runs, artifacts, traces] = days.map((one) => one && one * 86_400_000);
    const { retention } = configOf({ ...app, RETENTION: value });
    expect(retention).toEqual({ bodies, runs, artifacts, traces });
  });

  it.each([
    ['soon', 'must be a length of time or off, such as 90d'],
    ['6d', 'must be 7d or more for all kinds together, as runs need that'],
    ['runs:3d', 'must keep runs for 7d or more'],
    ['bodies:1h', 'must keep bodies for 1d or more'],
    ['blobs:30d', 'must name only bodies, runs, artifacts, traces'],
    ['bodies:', 'must give bodies a length of time or off'],
    ['bodies:14d,bodies:15d', 'must name bodies once'],
    ['bodies:14d,90d', 'must name only bodies, runs, artifacts, traces'],
  ])('refuses RETENTION=%s with a sentence', (value, diagnostic) => {
    expect(faultsOf({ ...app, RETENTION: value })).toEqual([
      expect.stringContaining(`RETENTION ${diagnostic}`),
    ]);
  });

  it('reads the webhooks of chats by their names', () => {
    const { chat } = configOf({
      ...app,
      COUNTERSIGN_WEBHOOK_TEAM_CHAT: 'https://hooks.example.test/services/T0/B0/x?thread=1',
      COUNTERSIGN_WEBHOOK_EMPTY: '',
    });
    expect([...(chat?.webhooks ?? [])]).toEqual([
      ['team-chat', 'https://hooks.example.test/services/T0/B0/x?thread=1'],
    ]);
    expect(chat?.allowsPrivate).toBe(false);
  });

  it('reads the key of a signed webhook, and refuses a weak one', () => {
    const COUNTERSIGN_WEBHOOK_CI_1 = 'https://hooks.example.test/x';
    const key = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const { chat } = configOf({ ...app, COUNTERSIGN_WEBHOOK_CI_1, COUNTERSIGN_WEBHOOKS_SECRET_CI_1: key });
    expect([...(chat?.secrets ?? [])]).toEqual([['ci-1', key]]);
    for (const weak of ['hunter2', 'whsec_aHVudGVyMg==']) {
      expect(faultsOf({ ...app, COUNTERSIGN_WEBHOOK_CI_1, COUNTERSIGN_WEBHOOKS_SECRET_CI_1: weak })).toEqual([
        expect.stringMatching(/^COUNTERSIGN_WEBHOOKS_SECRET_CI_1 must be whsec_ and 24 to 64/),
      ]);
    }
  });

  it.each([
    ['COUNTERSIGN_WEBHOOK_A', 'http://hooks.example.test/x', 'must be an https URL'],
    ['COUNTERSIGN_WEBHOOK_A', 'http://127.0.0.1/x', 'must be an https URL'],
    ['COUNTERSIGN_WEBHOOK_A', 'https://me:secret@hooks.example.test/x', 'must have no user name or password'],
    ['COUNTERSIGN_WEBHOOK_A', 'https://169.254.169.254/x', 'leads to a private address'],
    ['COUNTERSIGN_WEBHOOK_A', 'https://[::1]/x', 'leads to a private address'],
    ['COUNTERSIGN_WEBHOOK_A', 'https://localhost/x', 'leads to a private address'],
    ['COUNTERSIGN_WEBHOOK_team', 'https://hooks.example.test/x', 'must end in a name of capital letters'],
    ['COUNTERSIGN_WEBHOOKS_PRIVATE', 'yes', 'must be allow, or unset'],
    [
      'COUNTERSIGN_WEBHOOKS_SECRET_NONE',
      'whsec_x',
      'belongs to no webhook; set COUNTERSIGN_WEBHOOK_NONE too',
    ],
  ])('refuses %s=%s with a sentence', (name, value, diagnostic) => {
    expect(faultsOf({ ...app, [name]: value })).toEqual([expect.stringContaining(`${name} ${diagnostic}`)]);
  });

  it('is the setup variant while no variable of an App is set', () => {
    const config = configOf({ PORT: '8080', APP_ID: '', WEBHOOK_SECRET: '' });
    expect(config).toMatchObject({ kind: 'setup', port: 8080 });
    expect(config).not.toHaveProperty('webhookSecret');
  });

  it.each(['PRIVATE_KEY', 'PRIVATE_KEY_PATH', 'WEBHOOK_SECRET'])(
    'does not fall back to setup if only APP_ID is missing and %s is still set',
    (name) => {
      expect(faultsOf({ [name]: 'anything' })).toContainEqual(expect.stringMatching(/^APP_ID is missing/));
    },
  );

  it('reads a key whose line ends are written as \\n', () => {
    expect(configOf({ ...app, PRIVATE_KEY: pkcs1.replaceAll('\n', '\\n') })).toMatchObject({
      privateKey: pkcs8,
    });
  });

  it('reads the key from the file that PRIVATE_KEY_PATH names', () => {
    const env = { ...app, PRIVATE_KEY: undefined, PRIVATE_KEY_PATH: '/run/secrets/key' };
    expect(configOf(env, { '/run/secrets/key': pkcs8 })).toMatchObject({ privateKey: pkcs8 });
  });

  it.each([
    ['https://ghe.example.com/api/v3/', 'https://ghe.example.com/api/v3'],
    ['http://127.0.0.1:4000', 'http://127.0.0.1:4000'],
    ['http://localhost:4000/', 'http://localhost:4000'],
    ['http://[::1]:4000', 'http://[::1]:4000'],
  ])('reads %s as GitHub’s API, and stores it without a trailing slash', (given, kept) => {
    expect(configOf({ ...app, GITHUB_API_URL: given })).toMatchObject({ githubApiUrl: kept });
  });

  const METRICS_TOKEN = 'a-token-only-for-tests';
  it.each<[Environment, object]>([
    [{ METRICS_PORT: '9000' }, { own: { host: '127.0.0.1', port: 9000, isGiven: true } }],
    [
      { METRICS_PORT: '9000', METRICS_HOST: '10.0.0.1' },
      { own: { host: '10.0.0.1', port: 9000, isGiven: true } },
    ],
    [{ METRICS_HOST: '10.0.0.1' }, { own: { host: '10.0.0.1', port: 9464, isGiven: false } }],
    [{ METRICS_PORT: 'off' }, {}],
    [{ METRICS_TOKEN }, { token: METRICS_TOKEN }],
    [
      { METRICS_TOKEN, METRICS_PORT: '9000' },
      { token: METRICS_TOKEN, own: { host: '127.0.0.1', port: 9000, isGiven: true } },
    ],
  ])('reads where to serve metrics: %j', (env, metricsAccess) => {
    expect(configOf({ ...app, ...env })).toMatchObject({ metricsAccess });
    expect(Object.keys(configOf({ ...app, ...env }).metricsAccess)).toEqual(
      expect.arrayContaining(Object.keys(metricsAccess)),
    );
  });

  it('reports all errors at once, each beginning with its variable', () => {
    const diagnostics = faultsOf({
      APP_ID: 'countersign',
      PRIVATE_KEY: 'no key',
      WEBHOOK_SECRET: 'short',
      GITHUB_API_URL: 'api.github.com',
      PORT: '99999',
      PUBLIC_URL: 'ftp://example.com',
      DATABASE_URL: 'mysql://localhost',
      ARTIFACTS_URL: '/data',
      LOG_LEVEL: 'loud',
      LOG_FORMAT: 'xml',
      METRICS_PORT: 'on',
      METRICS_TOKEN: 'short',
    });
    expect(diagnostics).toMatchInlineSnapshot(`
      [
        "APP_ID must be the number of the GitHub App, such as 123456",
        "WEBHOOK_SECRET must have at least 16 characters",
        "PRIVATE_KEY must be an unencrypted RSA private key in PEM form, as GitHub lets you download it",
        "GITHUB_API_URL must be an http or https URL, such as https://api.github.com or https://HOST/api/v3",
        "PORT must be a whole number from 0 (any free port) to 65535",
        "PUBLIC_URL must be an http or https URL, such as https://countersign.example.com",
        "DATABASE_URL must be sqlite:<path of a file>, such as sqlite:data/countersign.db, or postgres://<user>:<password>@<host>/<database>",
        "LOG_LEVEL must be one of trace, debug, info, warn, error, silent",
        "LOG_FORMAT must be pretty or json",
        "ARTIFACTS_URL must be file:<path of a folder>, such as file:data/artifacts, or s3://<bucket>/<prefix>",
        "METRICS_PORT must be a whole number from 0 (any free port) to 65535, or "off"",
        "METRICS_TOKEN must have at least 16 characters, none of them white space or outside of ASCII",
      ]
    `);
  });

  it.each<[string, Environment, RegExp]>([
    ['no secret', { WEBHOOK_SECRET: undefined }, /^WEBHOOK_SECRET is missing/],
    ['an empty secret', { WEBHOOK_SECRET: '' }, /^WEBHOOK_SECRET is missing/],
    [
      'a secret of 15 characters',
      { WEBHOOK_SECRET: 'x'.repeat(15) },
      /^WEBHOOK_SECRET must have at least 16/,
    ],
    ['a secret with a line end', { WEBHOOK_SECRET: `${SECRET}\n` }, /^WEBHOOK_SECRET must not begin or end/],
    ['no key', { PRIVATE_KEY: undefined }, /^PRIVATE_KEY is missing; .*PRIVATE_KEY_PATH/],
    ['a public key', { PRIVATE_KEY: publicKey }, /^PRIVATE_KEY must be an unencrypted RSA private key/],
    ['an encrypted key', { PRIVATE_KEY: encrypted }, /^PRIVATE_KEY must be an unencrypted RSA private key/],
    ['an elliptic-curve key', { PRIVATE_KEY: ecKey }, /^PRIVATE_KEY must be an unencrypted RSA private key/],
    ['two keys', { PRIVATE_KEY_PATH: '/key' }, /^PRIVATE_KEY and PRIVATE_KEY_PATH are both set/],
    ['an App id of 0', { APP_ID: '0' }, /^APP_ID must be the number/],
    ['an App id with a sign', { APP_ID: '+1' }, /^APP_ID must be the number/],
    [
      'plain http to another host',
      { GITHUB_API_URL: 'http://ghe.example.com' },
      /^GITHUB_API_URL must be https/,
    ],
    [
      'http to a name that only looks like loopback',
      { GITHUB_API_URL: 'http://127.0.0.1.example.com' },
      /must be https/,
    ],
    [
      'a password in a URL',
      { GITHUB_API_URL: 'https://a:b@ghe.example.com' },
      /^GITHUB_API_URL must have no user name/,
    ],
    ['a query in a URL', { PUBLIC_URL: 'https://example.com/?a=b' }, /^PUBLIC_URL must have no/],
    ['a port with a unit', { PORT: '3000/tcp' }, /^PORT must be a whole number/],
    ['a database without a file', { DATABASE_URL: 'sqlite:' }, /^DATABASE_URL must be sqlite:/],
  ])('refuses %s', (_what, change, diagnostic) => {
    expect(faultsOf({ ...app, ...change })).toEqual([expect.stringMatching(diagnostic)]);
  });

  it('names an unreadable key file by its variable, not by its path', () => {
    const diagnostics = faultsOf({ ...app, PRIVATE_KEY: undefined, PRIVATE_KEY_PATH: '/secret/place' });
    expect(diagnostics).toEqual(['PRIVATE_KEY_PATH names a file that cannot be read (ENOENT)']);
  });

  it.each([
    ['https://api.github.com', 'https://github.com'],
    ['https://api.acme.ghe.com', 'https://acme.ghe.com'],
    ['https://git.acme.example/api/v3', 'https://git.acme.example'],
    ['https://api.acme.example/api/v3', 'https://api.acme.example'],
    ['http://127.0.0.1:3001', 'http://127.0.0.1:3001'],
  ])('knows that the API at %s belongs to the web pages at %s', (api, pages) => {
    expect(gitHubPages(api)).toBe(pages);
  });

  it('needs only the API’s address to know the web pages, and has no links if it is invalid', () => {
    expect(readPages({})).toEqual({ github: 'https://github.com' });
    expect(readPages({ GITHUB_API_URL: 'git.acme' })).toEqual({ github: null });
  });

  describe('with an S3 bucket for artifacts', () => {
    const s3: Environment = {
      ...app,
      ARTIFACTS_URL: 's3://bucket/prefix',
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'a/secret+key',
    };
    const amazon = {
      endpoint: undefined,
      region: 'eu-central-1',
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: 'a/secret+key',
      sessionToken: undefined,
    };

    it.each<[string, Environment, object]>([
      ['Amazon', {}, {}],
      ['a session token', { AWS_SESSION_TOKEN: 'lent' }, { sessionToken: 'lent' }],
      ['the older name of the region', { AWS_REGION: '', AWS_DEFAULT_REGION: 'x-1' }, { region: 'x-1' }],
      [
        'another store, whose region has a default',
        { AWS_REGION: '', AWS_ENDPOINT_URL: 'http://minio:9000/' },
        { endpoint: 'http://minio:9000', region: 'us-east-1' },
      ],
      [
        'an address for S3, which precedes the one for all services',
        { AWS_ENDPOINT_URL: 'http://other', AWS_ENDPOINT_URL_S3: 'http://minio:9000' },
        { endpoint: 'http://minio:9000' },
      ],
    ])('reads how to reach it: %s', (_what, change, expected) => {
      expect(configOf({ ...s3, ...change })).toMatchObject({
        artifactsUrl: 's3://bucket/prefix',
        s3: { ...amazon, ...expected },
      });
    });

    it('reports everything that is missing or wrong, each beginning with its variable', () => {
      const bare = { ...app, ARTIFACTS_URL: 's3://bucket' };
      expect(faultsOf(bare)).toEqual([
        'AWS_REGION is missing; ARTIFACTS_URL names an S3 bucket',
        'AWS_ACCESS_KEY_ID is missing; ARTIFACTS_URL names an S3 bucket',
        'AWS_SECRET_ACCESS_KEY is missing; ARTIFACTS_URL names an S3 bucket',
      ]);
      expect(faultsOf({ ...s3, AWS_REGION: 'a.b/c', AWS_ENDPOINT_URL_S3: 'minio:9000' })).toEqual([
        'AWS_ENDPOINT_URL_S3 must be an http or https URL, such as http://minio:9000',
        'AWS_REGION must be the name of a region, such as eu-central-1',
      ]);
    });

    it('ignores variables of other S3 tools while artifacts are files', () => {
      const config = configOf({ ...app, AWS_ENDPOINT_URL: 'nonsense', AWS_REGION: '!' });
      expect(config).not.toHaveProperty('s3');
    });
  });

  it('never repeats a value in an error', () => {
    const names = [
      'APP_ID',
      'PRIVATE_KEY',
      'PRIVATE_KEY_PATH',
      'WEBHOOK_SECRET',
      'DATABASE_URL',
      'PUBLIC_URL',
    ];
    const value = fc.string({ minLength: 1 }).map((text) => `~${text}~`);
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), value, { minKeys: 1 }), (env) => {
        const diagnostics = faultsOf(env).join('\n');
        expect(Object.values(env).filter((text) => diagnostics.includes(text))).toEqual([]);
      }),
    );
  });
});
